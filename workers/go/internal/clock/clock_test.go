package clock

import (
	"testing"
	"time"
)

func TestItIsNanosecondsAndNeverGoesBack(t *testing.T) {
	before := Now()
	time.Sleep(5 * time.Millisecond)
	if slept := Now() - before; slept < 5e6 {
		t.Errorf("%d ns went by in a sleep of 5 ms", slept)
	}
	last := Now()
	for i := 0; i < 10000; i++ {
		now := Now()
		if now < last {
			t.Fatalf("%d came after %d", now, last)
		}
		last = now
	}
}

func TestCostsAscend(t *testing.T) {
	cost := MeasureCost()
	if !(0 <= cost.Min && cost.Min <= cost.P50 && cost.P50 <= cost.P99 && cost.P99 > 0) {
		t.Errorf("%+v", cost)
	}
}

func TestAStampAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { Now() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
