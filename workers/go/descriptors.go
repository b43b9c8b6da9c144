package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// inheritedFile makes a file of a descriptor that the runtime's poller serves.
// os.NewFile leaves one that blocks to block a thread in read(2), which is not
// what a program in Go has: what os and net open does not block.
func inheritedFile(fd int, name string) (*os.File, error) {
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("descriptor %d: %w", fd, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// inheritedSocket makes a connection of the one descriptor of an end, without Nagle's
// algorithm unless the case has it.
func inheritedSocket(half half) (net.Conn, error) {
	file, err := inheritedFile(half.fds[0], "socket")
	if err != nil {
		return nil, err
	}
	// FileConn makes a descriptor of its own; were this one left open, the
	// partner would see no end-of-file when the connection is closed.
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d is no connected socket: %w", half.fds[0], err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetNoDelay(half.parameters["nodelay"] != "off")
	}
	return conn, err
}

// stream is a message of fixed length over byte streams.
type stream struct {
	in       io.Reader
	out      io.Writer
	messages *messages
	received []byte
}

func newStream(in io.Reader, out io.Writer, messages *messages) *stream {
	return &stream{in, out, messages, make([]byte, messages.payload)}
}

func attachPipe(half half) (channel, error) {
	in, err := inheritedFile(half.fds[0], "incoming")
	if err != nil {
		return nil, err
	}
	out, err := inheritedFile(half.fds[1], "outgoing")
	if err != nil {
		return nil, err
	}
	return newStream(in, out, half.messages), nil
}

func attachStream(half half) (channel, error) {
	conn, err := inheritedSocket(half)
	if err != nil {
		return nil, err
	}
	return newStream(conn, conn, half.messages), nil
}

func (s *stream) send(sequence uint64) error {
	if _, err := s.out.Write(s.messages.of(sequence)); err != nil {
		return linkError("writing", err)
	}
	return nil
}

func (s *stream) receive(sequence uint64) error {
	if _, err := io.ReadFull(s.in, s.received); err != nil {
		return linkError("reading", err)
	}
	return s.messages.check(sequence, s.received)
}

// packets is a message as one packet on a connected socket.
type packets struct {
	conn     net.Conn
	messages *messages
	// received has room for a byte more than a message, so that a longer one is seen as such.
	received []byte
}

func attachPackets(half half) (channel, error) {
	conn, err := inheritedSocket(half)
	if err != nil {
		return nil, err
	}
	plain := packets{conn, half.messages, make([]byte, half.messages.payload+1)}
	if _, loses := conn.(*net.UDPConn); loses && half.isCallee {
		return &answeringAgain{plain}, nil
	}
	return &plain, nil
}

func (p *packets) send(sequence uint64) error {
	if _, err := p.conn.Write(p.messages.of(sequence)); err != nil {
		return linkError("sending", err)
	}
	return nil
}

func (p *packets) receive(sequence uint64) error {
	n, err := p.conn.Read(p.received)
	if err != nil {
		return linkError("receiving", err)
	}
	return p.messages.check(sequence, p.received[:n])
}

// answeringAgain is the callee where messages can be lost: one that comes a second
// time has been answered, and the answer was lost.
type answeringAgain struct {
	packets
}

// repeatsMax is how many messages of the past are answered in a row at most.
const repeatsMax = 10_000

func (a *answeringAgain) receive(sequence uint64) error {
	var err error
	for i := 0; i < repeatsMax; i++ {
		var n int
		if n, err = a.conn.Read(a.received); err != nil {
			return linkError("receiving", err)
		}
		received := a.received[:n]
		if err = a.messages.check(sequence, received); err == nil {
			return nil
		}
		// Without payload no message can be told from another.
		if n == 0 || sequence < 3 || !a.messages.is(sequence-2, received) {
			return err
		}
		if err := a.send(sequence - 1); err != nil {
			return err
		}
	}
	return err
}
