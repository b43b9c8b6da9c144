// Package trial plays the ends of a trial: the timed loops, and the phases around them.
package trial

import (
	"fmt"

	"hopcost-go-worker/internal/clock"
	"hopcost-go-worker/internal/mechanism"
	"hopcost-go-worker/internal/protocol"
)

// leadIn is the exchanges before the first stamp of a phase.
const leadIn = 2

// seen is what a stamping end saw in a phase.
type seen struct {
	// into takes samples as far as it reaches: all of them, or none.
	into    []uint64
	samples uint64
	longest uint64
	elapsed uint64
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
func samplesOf(count uint64, stamp protocol.Stamp) (uint64, error) {
	unit, samples := stamp.N, uint64(1)
	switch stamp.Kind {
	case "each":
		unit = 1
	case "batch":
	case "two-lengths":
		if stamp.N > 1<<40 {
			return 0, fmt.Errorf("a batch of %d operations is too long", stamp.N)
		}
		unit, samples = 3*stamp.N, 2
	default:
		return 0, fmt.Errorf("there is no way to stamp `%s`", stamp.Kind)
	}
	if unit == 0 || count == 0 || count%unit != 0 {
		return 0, fmt.Errorf("%d operations are no multiple of %d", count, unit)
	}
	return count / unit * samples, nil
}

// caller does count exchanges, of which the first request has this number.
func caller(channel mechanism.Channel, number, count uint64, stamp protocol.Stamp, seen *seen) error {
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
	before := clock.Now()
	for done := uint64(0); done < count; done += batch {
		for i := uint64(0); i < batch; i++ {
			if err := exchange(channel, number); err != nil {
				return err
			}
			number += 2
		}
		now := clock.Now()
		seen.note(now - before)
		before = now
	}
	return nil
}

func exchange(channel mechanism.Channel, number uint64) error {
	if err := channel.Send(number); err != nil {
		return err
	}
	return channel.Receive(number + 1)
}

// callee answers the exchanges of a phase.
func callee(channel mechanism.Channel, number, count uint64) error {
	for i := uint64(0); i < count+leadIn; i++ {
		if err := channel.Receive(number); err != nil {
			return err
		}
		if err := channel.Send(number + 1); err != nil {
			return err
		}
		number += 2
	}
	return nil
}

// calls does count operations in one goroutine: in batches, or in batches of n and
// 2n in turn.
func calls(call mechanism.Call, count uint64, stamp protocol.Stamp, seen *seen) error {
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
		before := clock.Now()
		if err := call.Repeat(length); err != nil {
			return err
		}
		seen.note(clock.Now() - before)
		done += length
	}
	return nil
}
