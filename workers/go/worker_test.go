// What `hopcost worker check` cannot see: the arithmetic of stamps and batches, what allocates, a lost datagram, and the deadline.
package main

import (
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestAnyFlippedBitIsSeen(t *testing.T) {
	made := newMessages(65)
	received := slices.Clone(made.of(7))
	if made.check(7, received) != nil || made.check(8, received) == nil || made.check(7, received[:64]) == nil {
		t.Error("a message is not told from another")
	}
	for bit := 0; bit < 8*65; bit++ {
		received[bit/8] ^= 1 << (bit % 8)
		if made.check(7, received) == nil {
			t.Errorf("bit %d is not seen", bit)
		}
		received[bit/8] ^= 1 << (bit % 8)
	}
}

func TestALoadKeepsItsTimesAndAnswersTheLeadInAlone(t *testing.T) {
	times := []uint64{1e6, 2e6, 0, 3e6}
	for _, isAlone := range []bool{false, true} {
		channel, saw := new(recorder), &seen{into: make([]uint64, 4)}
		sent := []uint64{1, 3, 5, 7, 9, 11}
		err := playSender(channel, 1, times, saw)
		if isAlone {
			channel, saw, sent = new(recorder), &seen{into: make([]uint64, 4)}, nil
			err = playSender(nil, 1, times, saw)
		}
		if err != nil || !slices.Equal(channel.sent, sent) || saw.late == 0 || saw.into[2]>>63 != 1 {
			t.Errorf("sent %v, saw %v: %v", channel.sent, saw, err)
		}
		for i, word := range saw.into {
			if word&^(1<<63) < saw.first+times[i] {
				t.Errorf("message %d left before its time", i)
			}
		}
	}
	channel, saw := new(recorder), &seen{into: make([]uint64, 3)}
	err := playReceiver(channel, 1, 3, saw)
	if err != nil || !slices.Equal(channel.received, []uint64{1, 3, 5, 7, 9}) || !slices.Equal(channel.sent, []uint64{2, 4}) {
		t.Errorf("received %v, sent %v: %v", channel.received, channel.sent, err)
	}
	if saw.first == 0 || saw.first != saw.into[0] || !slices.IsSorted(saw.into) {
		t.Errorf("stamps %v from %d", saw.into, saw.first)
	}
}

// recorder is a channel, and an operation, that only says what it was asked.
type recorder struct{ sent, received, batches []uint64 }

func (r *recorder) send(sequence uint64) error {
	r.sent = append(r.sent, sequence)
	return nil
}

func (r *recorder) receive(sequence uint64) error {
	r.received = append(r.received, sequence)
	return nil
}

func (r *recorder) repeat(n uint64) error {
	r.batches = append(r.batches, n)
	return nil
}

// measured is what a trial leaves of a phase, and its caller's counts of it.
func measured(t *testing.T, trial *trial, count uint64, stamp stamp) (samples []uint64, caller end) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "samples")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	trial.samples, trial.seats = file, []seat{{Role: "caller"}}
	ends, err := trial.run("measure", count, stamp)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for ; len(written) > 0; written = written[8:] {
		samples = append(samples, binary.LittleEndian.Uint64(written))
	}
	sum := uint64(0)
	for _, sample := range samples {
		sum += sample
	}
	if caller = ends[0]; caller.Samples != uint64(len(samples)) || caller.ElapsedTicks != sum ||
		caller.MaxTicks != slices.Max(samples) || caller.Count != count {
		t.Errorf("%d samples of the sum %d: %+v", len(samples), sum, caller)
	}
	return samples, caller
}

func TestNumbersRunOnThroughPhasesAndBatchesAreSamples(t *testing.T) {
	var asked, answered recorder
	asking := &trial{caller: &asked, next: 1}
	answering := &trial{callee: &answered, seats: []seat{{Role: "callee"}}, next: 1}
	for _, phase := range []struct {
		count uint64
		stamp stamp
		want  int
	}{{10, stamp{Kind: "each"}, 10}, {12, stamp{Kind: "batch", N: 4}, 3}} {
		if samples, _ := measured(t, asking, phase.count, phase.stamp); len(samples) != phase.want {
			t.Errorf("%d samples of %+v", len(samples), phase)
		}
		if ends, err := answering.run("measure", phase.count, phase.stamp); err != nil || ends[0].Samples != 0 {
			t.Errorf("%+v %v", ends, err)
		}
	}
	// Two exchanges lead in.
	for i := range uint64(26) {
		if asked.sent[i] != 2*i+1 || asked.received[i] != 2*i+2 {
			t.Fatalf("exchange %d: %d, %d", i, asked.sent[i], asked.received[i])
		}
	}
	if len(asked.sent) != 26 || !slices.Equal(asked.sent, answered.received) || !slices.Equal(asked.received, answered.sent) {
		t.Errorf("%+v %+v", asked, answered)
	}
}

func TestTwoLengthsTakeTurns(t *testing.T) {
	var called recorder
	samples, _ := measured(t, &trial{operation: &called}, 90, stamp{Kind: "two-lengths", N: 10})
	if len(samples) != 6 || !slices.Equal(called.batches, []uint64{10, 20, 10, 20, 10, 20}) {
		t.Errorf("%v %v", samples, called.batches)
	}
}

func TestTheWorkersOwnLoopsAllocateNothing(t *testing.T) {
	for _, row := range mechanisms {
		do := func() {}
		switch {
		case row.call != nil:
			operation, err := row.call(64)
			if err != nil {
				t.Fatal(err)
			}
			do = func() { operation.repeat(10) }
		case row.pair != nil:
			caller, callee, _ := row.pair(64)
			go func() {
				for callee.receive(1) == nil && callee.send(2) == nil {
				}
			}()
			do = func() { caller.send(1); caller.receive(2) }
		}
		// AllocsPerRun is a whole number: what the runtime does now and then is less than one.
		if n := testing.AllocsPerRun(500, do); n != 0 {
			t.Errorf("%s: %v allocations an operation", row.name, n)
		}
	}
}

func TestADatagramThatComesTwiceIsAnsweredTwice(t *testing.T) {
	loopback := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}
	server, err := net.ListenUDP("udp4", loopback)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := net.DialUDP("udp4", nil, server.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	local := server.LocalAddr().(*net.UDPAddr)
	server.Close()
	conn, err := net.DialUDP("udp4", local, peer.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	made := newMessages(64)
	callee := &answeringAgain{packets{conn, made, make([]byte, 65)}}
	for _, number := range []uint64{1, 1, 3, 3, 5} {
		peer.Write(made.of(number))
	}
	if err := playCallee(callee, 1, 1); err != nil {
		t.Error(err)
	}
	peer.SetReadDeadline(time.Now().Add(20 * time.Second))
	for _, number := range []uint64{2, 2, 4, 4, 6} {
		received := make([]byte, 65)
		if n, err := peer.Read(received); err != nil || !made.is(number, received[:n]) {
			t.Errorf("answer %d: %v", number, err)
		}
	}
}

// The test program is the worker where this is in its environment.
const asWorker = "HOPCOST_TEST_AS_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTheDeadlineEndsItInTheMiddleOfALoop(t *testing.T) {
	worker := exec.Command("/proc/self/exe")
	worker.Env = append(os.Environ(), asWorker+"=1")
	input, _ := worker.StdinPipe()
	output, _ := worker.StdoutPipe()
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	input.Write([]byte(`{"do":"attach","mechanism":"mutex-uncontended","seats":[{"role":"caller"}]}` + "\n"))
	output.Read(make([]byte, 4096))
	input.Write([]byte(`{"do":"run","phase":"pilot","count":1000000000000000,"stamp":{"kind":"each"}}` + "\n"))
	// Whether it is in the loop by now or not, it has to end.
	time.Sleep(50 * time.Millisecond)
	worker.Process.Signal(syscall.SIGALRM)
	watchdog := time.AfterFunc(20*time.Second, func() { worker.Process.Kill() })
	worker.Wait()
	if !watchdog.Stop() || worker.ProcessState.ExitCode() != 128+int(syscall.SIGALRM) {
		t.Errorf("SIGALRM ended it with %v", worker.ProcessState)
	}
}
