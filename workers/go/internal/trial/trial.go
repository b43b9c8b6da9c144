package trial

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"

	"hopcost-go-worker/internal/mechanism"
	"hopcost-go-worker/internal/protocol"
)

// samplesAtFirst is the room that attach makes: enough for most trials.
const samplesAtFirst = 1 << 17

// samplesMax bounds the memory that a phase can ask for, 1 GiB of samples.
const samplesMax = 1 << 27

// wordsAtOnce is how many samples are written at once.
const wordsAtOnce = 8192

// Trial is what attach makes: the ends that this worker plays.
type Trial struct {
	call           mechanism.Call
	caller, callee mechanism.Channel
	roles          []string
	// next is the number of the next message, of all phases together.
	next    uint64
	samples *os.File
	// room is kept from phase to phase, and so are the bytes to be written.
	room  []uint64
	bytes []byte
	// fail ends the process with a reason, from whichever goroutine.
	fail func(error)
}

// Attach takes the ends of a case. What goes wrong in a goroutine of its own later
// on is given to fail.
func Attach(command *protocol.Command, fail func(error)) (*Trial, error) {
	spelling, err := protocol.ParseCase(command.Case)
	if err != nil {
		return nil, err
	}
	row, payload, err := mechanism.Find(spelling)
	if err != nil {
		return nil, err
	}
	trial := &Trial{next: 1, fail: fail}
	if err := trial.sit(row, spelling, payload, command.Seats); err != nil {
		return nil, err
	}
	if command.SamplesFD != nil {
		if trial.samples = os.NewFile(uintptr(*command.SamplesFD), "samples"); trial.samples == nil {
			return nil, fmt.Errorf("descriptor %d is none", *command.SamplesFD)
		}
		trial.roomFor(samplesAtFirst)
		trial.bytes = make([]byte, 0, 8*wordsAtOnce)
	}
	return trial, nil
}

func (t *Trial) sit(row *mechanism.Row, spelling *protocol.Case, payload int, seats []protocol.Seat) (err error) {
	for _, seat := range seats {
		t.roles = append(t.roles, seat.Role)
	}
	switch {
	case spelling.Workload == "call":
		if len(seats) != 1 || seats[0].Role != "caller" {
			return errors.New("a call has one seat, the caller's")
		}
		t.call, err = row.OpenCall(payload)
	case len(seats) == 2:
		if seats[0].Role != "caller" || seats[1].Role != "callee" || seats[0].Link != nil || seats[1].Link != nil {
			return errors.New("two seats are the caller's and the callee's, without links")
		}
		t.caller, t.callee, err = row.OpenPair(payload)
	case len(seats) == 1 && seats[0].Link != nil:
		switch seats[0].Role {
		case "caller":
			t.caller, err = row.Attach(spelling, false, payload, seats[0].Link)
		case "callee":
			t.callee, err = row.Attach(spelling, true, payload, seats[0].Link)
		default:
			err = fmt.Errorf("there is no role `%s`", seats[0].Role)
		}
	default:
		err = errors.New("attach needs one seat with a link, or two without")
	}
	return err
}

// Roles of the seats, in the order asked.
func (t *Trial) Roles() []string {
	return t.roles
}

// Run plays a phase.
func (t *Trial) Run(phase string, count uint64, stamp protocol.Stamp) ([]protocol.End, error) {
	switch phase {
	case "pilot", "warm-up", "measure", "count":
	default:
		return nil, fmt.Errorf("there is no phase `%s`", phase)
	}
	samples, err := samplesOf(count, stamp)
	if err != nil {
		return nil, err
	}
	if stamp.Kind == "two-lengths" && t.call == nil {
		return nil, errors.New("two lengths are for calls alone")
	}
	seen := &seen{}
	if phase == "measure" && (t.call != nil || t.caller != nil) {
		if t.samples == nil {
			return nil, errors.New("there is no descriptor for samples")
		}
		if samples > samplesMax {
			return nil, fmt.Errorf("%d samples are more than %d", samples, samplesMax)
		}
		seen.into = t.roomFor(int(samples))
	}
	if err := t.play(count, stamp, seen); err != nil {
		return nil, err
	}
	if err := t.write(seen.into); err != nil {
		return nil, fmt.Errorf("writing the samples: %w", err)
	}
	var ends []protocol.End
	for _, role := range t.roles {
		end := protocol.End{Role: role, Count: count}
		if role == "caller" {
			end.Samples = uint64(len(seen.into))
			end.MaxTicks = seen.longest
			end.ElapsedTicks = seen.elapsed
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// play runs the loops of a phase: one in this goroutine, a second in another.
func (t *Trial) play(count uint64, stamp protocol.Stamp, seen *seen) error {
	if t.call != nil {
		return calls(t.call, count, stamp, seen)
	}
	first := t.next
	t.next += 2 * (count + leadIn)
	if t.caller == nil {
		return callee(t.callee, first, count)
	}
	if t.callee == nil {
		return caller(t.caller, first, count, stamp, seen)
	}
	over := make(chan struct{})
	go func() {
		defer func() {
			if mistake := recover(); mistake != nil {
				t.fail(fmt.Errorf("a mistake in the worker: %v", mistake))
			}
		}()
		// The caller would wait for ever for one that has failed.
		if err := callee(t.callee, first, count); err != nil {
			t.fail(err)
		}
		close(over)
	}()
	if err := caller(t.caller, first, count, stamp, seen); err != nil {
		return err
	}
	<-over
	return nil
}

// roomFor is room for so many samples, each page of it written to: the kernel gives
// a page when it is touched first, which is not to be in a sample. The garbage that
// this makes is collected now.
func (t *Trial) roomFor(samples int) []uint64 {
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
func (t *Trial) write(samples []uint64) error {
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
