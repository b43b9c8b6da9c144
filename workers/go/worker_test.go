// What `hopcost worker check` cannot see: batches of two lengths, what allocates, a lost datagram, and the deadline.
package main

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// recorder is an operation that only says what it was asked.
type recorder struct{ batches []uint64 }

func (r *recorder) repeat(n uint64) error {
	r.batches = append(r.batches, n)
	return nil
}

func TestTwoLengthsTakeTurns(t *testing.T) {
	called, seen := new(recorder), &seen{into: make([]uint64, 6)}
	err := playCalls(called, 90, stamp{Kind: "two-lengths", N: 10}, seen)
	if err != nil || seen.samples != 6 || !slices.Equal(called.batches, []uint64{10, 20, 10, 20, 10, 20}) {
		t.Errorf("%v %v %v", err, seen, called.batches)
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
