package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
)

// samplesAtFirst is the room that attach makes: enough for most trials.
const samplesAtFirst = 1 << 17

// wordsAtOnce is how many samples are written at once.
const wordsAtOnce = 8192

// trial is what attach makes: the ends that this worker plays.
type trial struct {
	operation      operation
	caller, callee channel
	seats          []seat
	// next is the number of the next message, of all phases together.
	next    uint64
	samples *os.File
	// isLoad says whether messages go one way, each at its time; the sender finds the times in schedule.
	isLoad   bool
	schedule *os.File
	// room is kept from phase to phase, and so are the bytes to be written.
	room  []uint64
	bytes []byte
}

// attach takes the ends of a case.
func attach(command *command) (*trial, error) {
	mechanism, err := find(command.Mechanism)
	if err != nil {
		return nil, err
	}
	trial := &trial{next: 1, seats: command.Seats, isLoad: command.Workload == "load"}
	if command.ScheduleFD != nil {
		trial.schedule = os.NewFile(uintptr(*command.ScheduleFD), "schedule")
	}
	if err := trial.sit(mechanism, command); err != nil {
		return nil, err
	}
	if command.SamplesFD != nil {
		trial.samples = os.NewFile(uintptr(*command.SamplesFD), "samples")
		trial.roomFor(samplesAtFirst)
		trial.bytes = make([]byte, 0, 8*wordsAtOnce)
	}
	return trial, nil
}

func (t *trial) sit(mechanism *mechanism, command *command) (err error) {
	switch seats := command.Seats; {
	case mechanism.call != nil:
		t.operation, err = mechanism.call(command.Payload)
	case mechanism.pair != nil:
		t.caller, t.callee, err = mechanism.pair(command.Payload)
	case len(seats) != 1 || seats[0].Link == nil:
		err = fmt.Errorf("`%s` is played between processes alone: give one end and its half of a link", mechanism.name)
	default:
		isCallee := seats[0].Role == "callee"
		var end channel
		end, err = mechanism.attach(half{seats[0].Link.FDs, isCallee, newMessages(command.Payload), command.Parameters})
		if isCallee {
			t.callee = end
		} else {
			t.caller = end
		}
	}
	return err
}

// run plays a phase.
func (t *trial) run(phase string, count uint64, stamp stamp) (ends []reply, err error) {
	seen := &seen{}
	isAlone := t.isLoad && phase == "pilot"
	stamps := t.operation != nil || t.caller != nil || t.isLoad && !isAlone
	if stamps && (phase == "measure" || isAlone) {
		seen.into = t.roomFor(int(samplesOf(count, stamp)))
	}
	if t.isLoad {
		err = t.playLoad(count, isAlone, seen)
	} else {
		err = t.play(count, stamp, seen)
	}
	if err != nil {
		return nil, err
	}
	if err := t.write(seen.into); err != nil {
		return nil, fmt.Errorf("writing the samples: %w", err)
	}
	for _, seat := range t.seats {
		end := reply{"role": seat.Role, "count": count}
		if seat.Role == "caller" || t.isLoad {
			end["samples"], end["max_ticks"], end["elapsed_ticks"] = len(seen.into), seen.longest, seen.elapsed
			end["first_tick"], end["overruns"] = seen.first, seen.late
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// play runs the loops of a phase: one in this goroutine, a second in another.
func (t *trial) play(count uint64, stamp stamp, seen *seen) error {
	if t.operation != nil {
		return playCalls(t.operation, count, stamp, seen)
	}
	first := t.next
	t.next += 2 * (count + leadIn)
	if t.caller == nil {
		return playCallee(t.callee, first, count)
	}
	if t.callee == nil {
		return playCaller(t.caller, first, count, stamp, seen)
	}
	over := make(chan struct{})
	go func() {
		defer failOnPanic()
		// The caller would wait for ever for one that has failed.
		if err := playCallee(t.callee, first, count); err != nil {
			fail(err)
		}
		close(over)
	}()
	if err := playCaller(t.caller, first, count, stamp, seen); err != nil {
		return err
	}
	<-over
	return nil
}

// playLoad plays the sender or the receiver of a load.
func (t *trial) playLoad(count uint64, isAlone bool, seen *seen) error {
	first := t.next
	if !isAlone {
		t.next += 2 * (count + leadIn)
	}
	if t.callee != nil {
		if isAlone {
			return nil
		}
		return playReceiver(t.callee, first, count, seen)
	}
	words := make([]byte, 8*count)
	if _, err := t.schedule.ReadAt(words, 0); err != nil {
		return fmt.Errorf("reading the schedule: %w", err)
	}
	times := make([]uint64, count)
	for i := range times {
		times[i] = binary.LittleEndian.Uint64(words[8*i:])
	}
	if isAlone {
		return playSender(nil, first, times, seen)
	}
	return playSender(t.caller, first, times, seen)
}

// roomFor is room for this many samples, each page of it written to: the kernel gives
// a page when it is touched first, which is not to be in a sample. The garbage that
// this makes is collected now.
func (t *trial) roomFor(samples int) []uint64 {
	if samples > len(t.room) {
		t.room = nil
		t.room = make([]uint64, samples)
		for i := range t.room {
			t.room[i] = 1
		}
		runtime.GC()
	}
	return t.room[:samples]
}

// write writes samples as little-endian words.
func (t *trial) write(samples []uint64) error {
	for len(samples) > 0 {
		part := samples[:min(wordsAtOnce, len(samples))]
		t.bytes = t.bytes[:0]
		for _, sample := range part {
			t.bytes = binary.LittleEndian.AppendUint64(t.bytes, sample)
		}
		if _, err := t.samples.Write(t.bytes); err != nil {
			return err
		}
		samples = samples[len(part):]
	}
	return nil
}
