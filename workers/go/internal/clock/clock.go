// Package clock takes the stamps.
//
// time.Since of a time with a monotonic reading is one call of the runtime's
// nanotime, which on Linux is clock_gettime(CLOCK_MONOTONIC) by way of the vDSO.
// (unix.ClockGettime would be a system call.) Every program in Go has this
// clock, and it does not allocate.
package clock

import (
	"sort"
	"time"
)

// Source and TicksPerSecond describe the clock as the protocol does.
const (
	Source         = "CLOCK_MONOTONIC"
	TicksPerSecond = 1e9
)

var start = time.Now()

// Now is nanoseconds of CLOCK_MONOTONIC since the program began.
func Now() uint64 {
	return uint64(time.Since(start))
}

// Cost is what a stamp costs, in nanoseconds.
type Cost struct {
	Min, P50, P99 float64
	// Resolution is the smallest difference seen between two stamps that differ.
	Resolution uint64
}

const (
	stampsInBatch = 16
	batches       = 4096
)

// MeasureCost takes stamps in batches, because one costs not many times more
// than the clock's resolution.
func MeasureCost() Cost {
	costs := make([]float64, batches)
	resolution := uint64(0)
	for i := range costs {
		first := Now()
		last := first
		for j := 0; j < stampsInBatch; j++ {
			now := Now()
			if step := now - last; step > 0 && (resolution == 0 || step < resolution) {
				resolution = step
			}
			last = now
		}
		costs[i] = float64(last-first) / stampsInBatch
	}
	sort.Float64s(costs)
	return Cost{
		Min:        costs[0],
		P50:        costs[batches/2],
		P99:        costs[batches*99/100],
		Resolution: resolution,
	}
}
