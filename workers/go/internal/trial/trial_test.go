package trial

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hopcost-go-worker/internal/protocol"
)

// recorder is a channel that only says what it was asked.
type recorder struct {
	sent, received []uint64
	failAt         uint64
}

var errBroken = errors.New("broken")

func (r *recorder) Send(sequence uint64) error {
	r.sent = append(r.sent, sequence)
	return nil
}

func (r *recorder) Receive(sequence uint64) error {
	if sequence == r.failAt {
		return errBroken
	}
	r.received = append(r.received, sequence)
	return nil
}

func each(t *testing.T, numbers []uint64, first, count uint64) {
	t.Helper()
	if uint64(len(numbers)) != count {
		t.Errorf("%d messages instead of %d", len(numbers), count)
	}
	for i, number := range numbers {
		if number != first+2*uint64(i) {
			t.Fatalf("message %d instead of %d", number, first+2*uint64(i))
		}
	}
}

func attached(t *testing.T, spelling string, roles ...string) (*Trial, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "samples")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	command := &protocol.Command{Case: spelling}
	for _, role := range roles {
		command.Seats = append(command.Seats, protocol.Seat{Role: role})
	}
	trial, err := Attach(command, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	trial.samples = file
	return trial, path
}

func samplesIn(t *testing.T, path string) (samples []uint64) {
	t.Helper()
	bytes, err := os.ReadFile(path)
	if err != nil || len(bytes)%8 != 0 {
		t.Fatal(len(bytes), err)
	}
	for ; len(bytes) > 0; bytes = bytes[8:] {
		samples = append(samples, binary.LittleEndian.Uint64(bytes))
	}
	return samples
}

func TestNumbersRunOnThroughPhasesWithTheirLeadIn(t *testing.T) {
	var one, two recorder
	asking := &Trial{caller: &one, roles: []string{"caller"}, next: 1}
	answering := &Trial{callee: &two, roles: []string{"callee"}, next: 1}
	for _, phase := range []struct {
		count uint64
		stamp protocol.Stamp
	}{{10, protocol.Stamp{Kind: "each"}}, {12, protocol.Stamp{Kind: "batch", N: 4}}} {
		for _, trial := range []*Trial{asking, answering} {
			ends, err := trial.Run("warm-up", phase.count, phase.stamp)
			if err != nil || len(ends) != 1 || ends[0].Count != phase.count || ends[0].Samples != 0 {
				t.Errorf("%+v %v", ends, err)
			}
		}
	}
	each(t, one.sent, 1, 26)
	each(t, one.received, 2, 26)
	each(t, two.received, 1, 26)
	each(t, two.sent, 2, 26)
}

func TestAnErrorOfTheLinkEndsThePhase(t *testing.T) {
	trial := &Trial{caller: &recorder{failAt: 8}, roles: []string{"caller"}, next: 1}
	if _, err := trial.Run("pilot", 10, protocol.Stamp{Kind: "each"}); err != errBroken {
		t.Error(err)
	}
	trial = &Trial{callee: &recorder{failAt: 7}, roles: []string{"callee"}, next: 1}
	if _, err := trial.Run("pilot", 10, protocol.Stamp{Kind: "each"}); err != errBroken {
		t.Error(err)
	}
}

func TestSamplesAreWhatTheEndsSay(t *testing.T) {
	for _, stamp := range []protocol.Stamp{{Kind: "each"}, {Kind: "batch", N: 10}} {
		trial, path := attached(t, "roundtrip/channel-buffered?payload=64", "caller", "callee")
		for _, phase := range []string{"pilot", "warm-up", "measure", "count"} {
			ends, err := trial.Run(phase, 20_000, stamp)
			if err != nil || len(ends) != 2 || ends[1].Role != "callee" || ends[1].Count != 20_000 {
				t.Fatalf("%+v %v", ends, err)
			}
			caller := ends[0]
			if caller.ElapsedTicks == 0 || caller.MaxTicks == 0 || caller.Count != 20_000 {
				t.Errorf("%s: %+v", phase, caller)
			}
			if phase != "measure" {
				if caller.Samples != 0 {
					t.Errorf("%s leaves %d samples", phase, caller.Samples)
				}
				continue
			}
			sum, longest := uint64(0), uint64(0)
			samples := samplesIn(t, path)
			for _, sample := range samples {
				sum += sample
				longest = max(longest, sample)
			}
			want := uint64(20_000)
			if stamp.Kind == "batch" {
				want /= stamp.N
			}
			if uint64(len(samples)) != want || caller.Samples != want || sum != caller.ElapsedTicks || longest != caller.MaxTicks {
				t.Errorf("%d samples of the sum %d and the maximum %d: %+v", len(samples), sum, longest, caller)
			}
		}
		if samples := samplesIn(t, path); len(samples) == 0 {
			t.Error("no samples")
		}
	}
}

// counter is a call that only says how often it was asked.
type counter struct{ batches []uint64 }

func (c *counter) Repeat(n uint64) error {
	c.batches = append(c.batches, n)
	return nil
}

func TestTwoLengthsTakeTurns(t *testing.T) {
	trial, path := attached(t, "call/mutex-uncontended", "caller")
	call := new(counter)
	trial.call = call
	ends, err := trial.Run("measure", 90, protocol.Stamp{Kind: "two-lengths", N: 10})
	if err != nil || ends[0].Samples != 6 || len(samplesIn(t, path)) != 6 {
		t.Errorf("%+v %v", ends, err)
	}
	for i, n := range call.batches {
		if n != []uint64{10, 20}[i%2] {
			t.Errorf("batches %v", call.batches)
		}
	}
	if len(call.batches) != 6 {
		t.Errorf("batches %v", call.batches)
	}
}

func TestWhatCannotBeRunIsRefused(t *testing.T) {
	trial, _ := attached(t, "roundtrip/condvar?payload=0", "caller", "callee")
	for _, wrong := range []struct {
		phase string
		count uint64
		stamp protocol.Stamp
	}{
		{"dance", 1, protocol.Stamp{Kind: "each"}},
		{"pilot", 0, protocol.Stamp{Kind: "each"}},
		{"pilot", 7, protocol.Stamp{Kind: "batch", N: 2}},
		{"pilot", 7, protocol.Stamp{Kind: "batch"}},
		{"pilot", 3, protocol.Stamp{Kind: "two-lengths", N: 1}},
		{"pilot", 3, protocol.Stamp{Kind: "two-lengths", N: 1 << 63}},
		{"pilot", 3, protocol.Stamp{Kind: "sometimes", N: 1}},
		{"measure", 1 << 60, protocol.Stamp{Kind: "each"}},
	} {
		if _, err := trial.Run(wrong.phase, wrong.count, wrong.stamp); err == nil {
			t.Errorf("%+v is run", wrong)
		}
	}
	trial.samples = nil
	if _, err := trial.Run("measure", 1, protocol.Stamp{Kind: "each"}); err == nil {
		t.Error("samples go nowhere")
	}
}
