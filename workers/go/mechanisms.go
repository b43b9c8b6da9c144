package main

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// mechanism is one of three kinds, by the way in which it is opened. Its facts
// stand in worker.toml.
type mechanism struct {
	name string
	// revision is raised by one whenever a change of its code can move its numbers.
	revision int
	// call opens an operation.
	call func(payload int) (operation, error)
	// pair makes a link between two goroutines: caller, callee.
	pair func(payload int) (caller, callee channel, err error)
	// attach takes one end of a link over inherited descriptors.
	attach func(half half) (channel, error)
}

// half is one end of a link, as attach is given it.
type half struct {
	fds        []int
	isCallee   bool
	messages   *messages
	parameters map[string]string
}

// mechanisms are all of them, in the order of hopcost's documentation.
var mechanisms = []mechanism{
	{name: "mutex-uncontended", revision: 1, call: newLockedCounter},
	{name: "goroutine-start", revision: 1, call: newStarter},
	{name: "udp-send", revision: 1, call: newUnreadSender},
	{name: "condvar", revision: 3, pair: condvarPair},
	{name: "channel-unbuffered", revision: 2, pair: channelPair(0)},
	{name: "channel-buffered", revision: 2, pair: channelPair(1)},
	{name: "pipe", revision: 2, attach: attachPipe},
	{name: "unix-stream", revision: 2, attach: attachStream},
	{name: "unix-dgram", revision: 2, attach: attachPackets},
	{name: "unix-seqpacket", revision: 2, attach: attachPackets},
	{name: "tcp", revision: 2, attach: attachStream},
	{name: "udp", revision: 2, attach: attachPackets},
	{name: "websocket", revision: 2, attach: attachWebSocket},
}

func find(name string) (*mechanism, error) {
	for i := range mechanisms {
		if mechanisms[i].name == name {
			return &mechanisms[i], nil
		}
	}
	return nil, fmt.Errorf("there is no mechanism `%s` here", name)
}

// errPeerClosed is the error of an end whose partner is gone.
var errPeerClosed = errors.New("the other end closed the link")

// linkError is the error of a link: the same one for a partner that is gone, however the
// end notices it.
func linkError(doing string, err error) error {
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNREFUSED} {
		if errors.Is(err, gone) {
			return errPeerClosed
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
