package main

import (
	"sort"
	"time"

	"golang.org/x/sys/unix"
)

// channel is one end of a link over which numbered messages go both ways. The
// loop calls it through the interface, which costs about 2 ns a call.
type channel interface {
	// send writes message `sequence` whole.
	send(sequence uint64) error
	// receive waits for a message and sees that it is message `sequence`, every byte.
	receive(sequence uint64) error
}

// operation is what a call does, in one goroutine. The loop is the mechanism's own, so
// that no interface is called in it.
type operation interface {
	// repeat does the operation n times.
	repeat(n uint64) error
}

var start = time.Now()

// atStart is CLOCK_MONOTONIC at start, which the runtime keeps to itself: read between two looks that
// are as close as can be.
var atStart = monotonicAtStart()

func monotonicAtStart() (at uint64) {
	for i, closest := 0, time.Second; i < 100; i++ {
		var clock unix.Timespec
		before := time.Since(start)
		err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock)
		after := time.Since(start)
		if apart := after - before; err == nil && apart < closest {
			closest, at = apart, uint64(clock.Nano())-uint64(before+after)/2
		}
	}
	return at
}

// now is nanoseconds of CLOCK_MONOTONIC.
//
// time.Since of a time with a monotonic reading is one call of the runtime's
// nanotime, which on Linux is clock_gettime(CLOCK_MONOTONIC) by way of the vDSO.
// (unix.ClockGettime would be a system call.) Every program in Go has this
// clock, and it does not allocate.
func now() uint64 {
	return atStart + uint64(time.Since(start))
}

// readClock measures what a stamp costs, in batches, because one costs not many times
// more than the clock's resolution.
func readClock(cpu int) reply {
	const stampsInBatch, batches = 16, 4096
	costs := make([]float64, batches)
	for i := range costs {
		first := now()
		last := first
		for j := 0; j < stampsInBatch; j++ {
			last = now()
		}
		costs[i] = float64(last-first) / stampsInBatch
	}
	sort.Float64s(costs)
	return reply{
		"is": "clock", "runtime": "go", "cpu": cpu, "source": "CLOCK_MONOTONIC", "ticks_per_second": 1e9,
		"stamp_min_ns": costs[0], "stamp_p50_ns": costs[batches/2], "stamp_p99_ns": costs[batches*99/100],
	}
}

// leadIn is the exchanges before the first stamp of a phase.
const leadIn = 2

// seen is what a stamping end saw in a phase.
type seen struct {
	// into takes samples as far as it reaches: all of them, or none.
	into    []uint64
	samples uint64
	longest uint64
	elapsed uint64
	// first is the first stamp of an end of a load, late the messages that it came to late.
	first, late uint64
}

// stamp notes the stamp of a message of a load.
func (s *seen) stamp(now uint64, isLate bool) {
	word := now
	if isLate {
		word |= 1 << 63
		s.late++
	}
	if s.samples < uint64(len(s.into)) {
		s.into[s.samples] = word
	}
	s.samples++
	s.elapsed = now - s.first
}

func (s *seen) note(ticks uint64) {
	if s.samples < uint64(len(s.into)) {
		s.into[s.samples] = ticks
	}
	s.samples++
	s.elapsed += ticks
	if ticks > s.longest {
		s.longest = ticks
	}
}

// samplesOf is how many samples a phase has.
func samplesOf(count uint64, stamp stamp) uint64 {
	switch stamp.Kind {
	case "each":
		return count
	case "two-lengths":
		return count / (3 * stamp.N) * 2
	default:
		return count / stamp.N
	}
}

// playCaller does count exchanges, of which the first request has this number.
func playCaller(channel channel, number, count uint64, stamp stamp, seen *seen) error {
	for i := 0; i < leadIn; i++ {
		if err := exchange(channel, number); err != nil {
			return err
		}
		number += 2
	}
	batch := uint64(1)
	if stamp.Kind != "each" {
		batch = stamp.N
	}
	// The end of one sample is the start of the next.
	before := now()
	for done := uint64(0); done < count; done += batch {
		for i := uint64(0); i < batch; i++ {
			if err := exchange(channel, number); err != nil {
				return err
			}
			number += 2
		}
		now := now()
		seen.note(now - before)
		before = now
	}
	return nil
}

func exchange(channel channel, number uint64) error {
	if err := channel.send(number); err != nil {
		return err
	}
	return channel.receive(number + 1)
}

// playCallee answers the exchanges of a phase.
func playCallee(channel channel, number, count uint64) error {
	for i := uint64(0); i < count+leadIn; i++ {
		if err := channel.receive(number); err != nil {
			return err
		}
		if err := channel.send(number + 1); err != nil {
			return err
		}
		number += 2
	}
	return nil
}

// playSender sends each message of a load at its time, whatever the other end does; without a channel it
// goes through the times alone.
func playSender(channel channel, number uint64, times []uint64, seen *seen) error {
	for i := 0; i < leadIn && channel != nil; i++ {
		if err := exchange(channel, number); err != nil {
			return err
		}
		number += 2
	}
	seen.first = now()
	for _, after := range times {
		due, stamp := seen.first+after, now()
		isLate := stamp > due
		for stamp < due {
			stamp = now()
		}
		seen.stamp(stamp, isLate)
		if channel == nil {
			continue
		}
		if err := channel.send(number); err != nil {
			return err
		}
		number += 2
	}
	return nil
}

// playReceiver stamps each message of a load when it has come.
func playReceiver(channel channel, number, count uint64, seen *seen) error {
	if err := playCallee(channel, number, 0); err != nil {
		return err
	}
	number += 2 * leadIn
	for i := uint64(0); i < count; i++ {
		if err := channel.receive(number + 2*i); err != nil {
			return err
		}
		stamp := now()
		if i == 0 {
			seen.first = stamp
		}
		seen.stamp(stamp, false)
	}
	return nil
}

// playCalls does count operations in one goroutine: in batches, or in batches of n and
// 2n in turn.
func playCalls(operation operation, count uint64, stamp stamp, seen *seen) error {
	lengths := [2]uint64{stamp.N, stamp.N}
	switch stamp.Kind {
	case "each":
		lengths = [2]uint64{1, 1}
	case "two-lengths":
		lengths[1] = 2 * stamp.N
	}
	done := uint64(0)
	for turn := 0; done < count; turn++ {
		length := lengths[turn%2]
		before := now()
		if err := operation.repeat(length); err != nil {
			return err
		}
		seen.note(now() - before)
		done += length
	}
	return nil
}
