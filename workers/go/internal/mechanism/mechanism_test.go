package mechanism

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hopcost-go-worker/internal/message"
	"hopcost-go-worker/internal/protocol"
)

// must is for what these tests need and do not test.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// linkOf makes the descriptors that hopcost would hand to the two ends.
func linkOf(t *testing.T, name string) (caller, callee []int) {
	t.Helper()
	fds := func(fds [2]int, err error) (a, b int) {
		if err != nil {
			t.Fatal(err)
		}
		return fds[0], fds[1]
	}
	fileOf := func(conn interface{ File() (*os.File, error) }) int {
		file := must[*os.File](t)(conn.File())
		defer file.Close()
		return must[int](t)(syscall.Dup(int(file.Fd())))
	}
	loopback := net.IPv4(127, 0, 0, 1)
	switch name {
	case "pipe":
		var one, two [2]int
		must[int](t)(0, syscall.Pipe(one[:]))
		must[int](t)(0, syscall.Pipe(two[:]))
		return []int{two[0], one[1]}, []int{one[0], two[1]}
	case "unix-stream":
		a, b := fds(syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0))
		return []int{a}, []int{b}
	case "unix-seqpacket":
		a, b := fds(syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET, 0))
		return []int{a}, []int{b}
	case "unix-dgram":
		directory := t.TempDir()
		var ends [2]int
		var names [2]*syscall.SockaddrUnix
		for i := range ends {
			names[i] = &syscall.SockaddrUnix{Name: filepath.Join(directory, fmt.Sprint(i))}
			ends[i] = must[int](t)(syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0))
			must[int](t)(0, syscall.Bind(ends[i], names[i]))
		}
		for i := range ends {
			must[int](t)(0, syscall.Connect(ends[i], names[1-i]))
		}
		return ends[:1], ends[1:]
	case "tcp", "websocket":
		listener := must[*net.TCPListener](t)(net.ListenTCP("tcp4", &net.TCPAddr{IP: loopback}))
		defer listener.Close()
		a := must[*net.TCPConn](t)(net.DialTCP("tcp4", nil, listener.Addr().(*net.TCPAddr)))
		b := must[*net.TCPConn](t)(listener.AcceptTCP())
		defer a.Close()
		defer b.Close()
		return []int{fileOf(a)}, []int{fileOf(b)}
	case "udp":
		var ends [2]int
		var names [2]syscall.Sockaddr
		for i := range ends {
			ends[i] = must[int](t)(syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0))
			must[int](t)(0, syscall.Bind(ends[i], &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
			names[i] = must[syscall.Sockaddr](t)(syscall.Getsockname(ends[i]))
		}
		for i := range ends {
			must[int](t)(0, syscall.Connect(ends[i], names[1-i]))
		}
		return ends[:1], ends[1:]
	}
	t.Fatalf("no link is known for %s", name)
	return nil, nil
}

// ends attaches both ends of a row, by its own way.
func ends(t *testing.T, row *Row, payload int) (caller, callee Channel) {
	t.Helper()
	if row.pair != nil {
		caller, callee, err := row.OpenPair(payload)
		if err != nil {
			t.Fatal(err)
		}
		return caller, callee
	}
	callerFDs, calleeFDs := linkOf(t, row.Name)
	spelling := must[*protocol.Case](t)(protocol.ParseCase("roundtrip/" + row.Name))
	attached := make(chan Channel)
	go func() {
		channel, err := row.Attach(spelling, true, payload, &protocol.Link{FDs: calleeFDs})
		if err != nil {
			t.Error(err)
		}
		attached <- channel
	}()
	caller = must[Channel](t)(row.Attach(spelling, false, payload, &protocol.Link{FDs: callerFDs}))
	return caller, <-attached
}

// cut ends a link as the death of an end's process would.
func cut(channel Channel) {
	switch end := channel.(type) {
	case *stream:
		end.in.(interface{ Close() error }).Close()
		end.out.(interface{ Close() error }).Close()
	case *packets:
		end.conn.Close()
	case *answeringAgain:
		end.conn.Close()
	case *webSocket:
		end.socket.CloseNow()
	}
}

// within fails a test that hangs.
func within(t *testing.T, name string, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		t.Fatalf("%s hangs", name)
		return nil
	}
}

func channels() (rows []*Row) {
	for _, row := range All {
		if row.call == nil {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestMessagesGoThereAndBackWhole(t *testing.T) {
	for _, row := range channels() {
		for _, payload := range []int{row.Payload.Min, 64, 100, row.Payload.Max} {
			caller, callee := ends(t, row, payload)
			const exchanges = 300
			go func() {
				for i := uint64(0); i < exchanges; i++ {
					if err := callee.Receive(2*i + 1); err != nil {
						t.Errorf("%s: %v", row.Name, err)
						return
					}
					callee.Send(2*i + 2)
				}
			}()
			err := within(t, row.Name, func() error {
				for i := uint64(0); i < exchanges; i++ {
					if err := caller.Send(2*i + 1); err != nil {
						return err
					}
					if err := caller.Receive(2*i + 2); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s, %d bytes: %v", row.Name, payload, err)
			}
		}
	}
}

func TestAnotherMessageThanTheNextIsAnError(t *testing.T) {
	for _, row := range channels() {
		caller, callee := ends(t, row, 64)
		err := within(t, row.Name, func() error {
			go caller.Send(2)
			return callee.Receive(1)
		})
		if err == nil || err.Error() != "message 1 did not arrive as it was sent" {
			t.Errorf("%s: %v", row.Name, err)
		}
	}
}

func TestAPartnerThatIsGoneIsAnError(t *testing.T) {
	for _, row := range channels() {
		// Datagrams know no end-of-file: there the deadline ends the wait.
		if row.attach == nil || row.Name == "udp" || row.Name == "unix-dgram" {
			continue
		}
		caller, callee := ends(t, row, 64)
		cut(callee)
		err := within(t, row.Name, func() error {
			if err := caller.Send(1); err != nil {
				return err
			}
			return caller.Receive(2)
		})
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", row.Name, err)
		}
		caller, callee = ends(t, row, 64)
		cut(caller)
		if err := within(t, row.Name, func() error { return callee.Receive(1) }); err != ErrPeerClosed {
			t.Errorf("%s: %v", row.Name, err)
		}
	}
}

func TestADatagramThatComesTwiceIsAnsweredTwice(t *testing.T) {
	caller, callee := ends(t, &udp, 64)
	err := within(t, "udp", func() error {
		for _, step := range []func() error{
			func() error { return caller.Send(1) },
			func() error { return callee.Receive(1) },
			func() error { return callee.Send(2) },
			// The answer is taken to be lost: the request comes again, and then the next.
			func() error { return caller.Send(1) },
			func() error { return caller.Send(3) },
			func() error { return callee.Receive(3) },
			func() error { return caller.Receive(2) },
			func() error { return caller.Receive(2) },
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoLinkIsAnError(t *testing.T) {
	spelling := must[*protocol.Case](t)(protocol.ParseCase("roundtrip/x?nodelay=perhaps"))
	for _, row := range channels() {
		if row.attach == nil {
			continue
		}
		other := "tcp"
		if row.Name == "tcp" || row.Name == "websocket" {
			other = "udp"
		}
		wrongKind, _ := linkOf(t, other)
		for _, fds := range [][]int{nil, {1 << 20}, {1 << 20, 1 << 20}, {0, 1, 2}, wrongKind} {
			if _, err := row.Attach(spelling, false, 64, &protocol.Link{FDs: fds}); err == nil {
				t.Errorf("%s takes %v", row.Name, fds)
			}
		}
	}
	fds, _ := linkOf(t, "tcp")
	if _, err := tcp.Attach(spelling, false, 64, &protocol.Link{FDs: fds}); err == nil {
		t.Error("nodelay=perhaps is taken")
	}
}

func TestNodelayIsWhatTheCaseSays(t *testing.T) {
	for value, want := range map[string]bool{"": true, "?nodelay=on": true, "?nodelay=off": false} {
		fds, _ := linkOf(t, "tcp")
		spelling := must[*protocol.Case](t)(protocol.ParseCase("roundtrip/tcp" + value))
		channel := must[Channel](t)(tcp.Attach(spelling, false, 64, &protocol.Link{FDs: fds}))
		raw := must[syscall.RawConn](t)(channel.(*stream).in.(*net.TCPConn).SyscallConn())
		raw.Control(func(fd uintptr) {
			got, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_NODELAY)
			if err != nil || (got != 0) != want {
				t.Errorf("%q: %d %v", value, got, err)
			}
		})
	}
}

func TestTheWorkersOwnLoopsAllocateNothing(t *testing.T) {
	for _, row := range All {
		if row.Name == "websocket" { // its library does
			continue
		}
		payload, do := 0, func() {}
		if row.Payload != nil {
			payload = 64
		}
		if row.call != nil {
			call := must[Call](t)(row.OpenCall(payload))
			do = func() { call.Repeat(10) }
		} else {
			caller, callee := ends(t, row, payload)
			go func() {
				for callee.Receive(1) == nil && callee.Send(2) == nil {
				}
			}()
			do = func() { caller.Send(1); caller.Receive(2) }
		}
		// AllocsPerRun is a whole number: what the runtime does now and then is less than one.
		if n := testing.AllocsPerRun(500, do); n != 0 {
			t.Errorf("%s: %v allocations an operation", row.Name, n)
		}
	}
}

func TestDatagramsAreDroppedAtTheFullBuffer(t *testing.T) {
	for _, payload := range []int{0, 1, 64, 4096} {
		sender := must[*unreadSender](t)(newUnreadSender(payload))
		want := message.New(payload).Of(1)
		sender.message = message.New(payload).Of(2)
		if err := sender.Repeat(100); err != nil {
			t.Fatal(err)
		}
		// What is in the buffer came before, and of the hundred nothing did.
		buffer, queued := make([]byte, 65507), 0
		sender.receiver.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		for ; ; queued++ {
			n, err := sender.receiver.Read(buffer)
			if err != nil {
				break
			}
			if !bytes.Equal(buffer[:n], want) {
				t.Errorf("%d bytes arrive of %d", n, payload)
			}
		}
		if queued == 0 && payload < 4096 || queued >= fillers {
			t.Errorf("%d datagrams of %d bytes were in the buffer", queued, payload)
		}
	}
}

func TestFactsAreWhole(t *testing.T) {
	names := map[string]bool{}
	for _, row := range All {
		ways := 0
		for _, has := range []bool{row.call != nil, row.pair != nil, row.attach != nil} {
			if has {
				ways++
			}
		}
		if ways != 1 || names[row.Name] {
			t.Errorf("%s has %d ways to be opened, or is there twice", row.Name, ways)
		}
		names[row.Name] = true
		for _, text := range []string{row.Family, row.About, row.Crosses, row.Copies, row.Wakes, row.BetweenStamps, row.Limits} {
			if text == "" || strings.Contains(text, "\n") {
				t.Errorf("%s: a fact is missing", row.Name)
			}
		}
		if (row.call == nil) != (row.Workloads[0] == "roundtrip") || len(row.Sources) == 0 {
			t.Errorf("%s: %+v", row.Name, row.Facts)
		}
	}
}

func TestCasesThatCannotBePlayed(t *testing.T) {
	for _, wrong := range []string{
		"roundtrip/nothing", "wake/pipe?payload=64", "call/pipe?payload=64", "roundtrip/pipe?payload=0",
		"roundtrip/pipe?payload=65537", "call/mutex-uncontended?payload=1", "roundtrip/pipe?payload=x",
	} {
		if _, _, err := Find(must[*protocol.Case](t)(protocol.ParseCase(wrong))); err == nil {
			t.Errorf("%s is taken", wrong)
		}
	}
}
