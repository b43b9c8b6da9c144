package mechanism

import (
	"fmt"
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
	file := os.NewFile(uintptr(fd), name)
	if file == nil {
		return nil, fmt.Errorf("descriptor %d is none", fd)
	}
	return file, nil
}

// inheritedSocket makes a connection of the one descriptor of an end.
func inheritedSocket(end end) (net.Conn, error) {
	if len(end.fds) != 1 {
		return nil, fmt.Errorf("a socket is one descriptor and not %d", len(end.fds))
	}
	file, err := inheritedFile(end.fds[0], "socket")
	if err != nil {
		return nil, err
	}
	// FileConn makes a descriptor of its own; were this one left open, the
	// partner would see no end-of-file when the connection is closed.
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d is no connected socket: %w", end.fds[0], err)
	}
	return conn, nil
}

// socketOf is an inherited socket of this network, as net spells it.
func socketOf(end end, network string) (net.Conn, error) {
	conn, err := inheritedSocket(end)
	if err != nil {
		return nil, err
	}
	if got := conn.LocalAddr().Network(); got != network {
		return nil, fmt.Errorf("descriptor %d is a socket of the kind %s and not %s", end.fds[0], got, network)
	}
	return conn, nil
}
