// Package mechanism holds the mechanisms, one file each: what is said of one, how
// it is opened, and its operations. Adding one means a file and a line in All.
package mechanism

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"hopcost-go-worker/internal/message"
	"hopcost-go-worker/internal/protocol"
)

// Channel is one end of a link over which numbered messages go both ways. The
// loop calls it through the interface, which costs about 2 ns a call.
type Channel interface {
	// Send writes message `sequence` whole.
	Send(sequence uint64) error
	// Receive waits for a message and sees that it is message `sequence`, every byte.
	Receive(sequence uint64) error
}

// Call is an operation of one goroutine. The loop is the mechanism's own, so that
// no interface is called in it.
type Call interface {
	// Repeat does the operation n times.
	Repeat(n uint64) error
}

// Row is a mechanism: its facts, and one of three ways to open it.
type Row struct {
	Facts
	// call opens an operation.
	call func(payload int) (Call, error)
	// pair makes a link between two goroutines: caller, callee.
	pair func(payload int) (caller, callee Channel, err error)
	// attach takes one end of a link over inherited descriptors.
	attach func(end end) (Channel, error)
}

// end is what attach is given.
type end struct {
	fds      []int
	callee   bool
	contents *message.Contents
	spelling *protocol.Case
}

// All mechanisms, in the order of hopcost's documentation.
var All = []*Row{
	&mutexUncontended,
	&goroutineStart,
	&udpSend,
	&condvar,
	&channelUnbuffered,
	&channelBuffered,
	&pipe,
	&unixStream,
	&unixDgram,
	&unixSeqpacket,
	&tcp,
	&udp,
	&websocketRow,
}

// Find the row of a case, and see that it can be played here.
func Find(spelling *protocol.Case) (*Row, int, error) {
	for _, row := range All {
		if row.Name != spelling.Mechanism {
			continue
		}
		if row.Workloads[0] != spelling.Workload {
			return nil, 0, fmt.Errorf("`%s` takes part in %s and not in %s", row.Name, row.Workloads[0], spelling.Workload)
		}
		payload, err := spelling.Payload()
		if err != nil {
			return nil, 0, err
		}
		least, most := 0, 0
		if row.Payload != nil {
			least, most = row.Payload.Min, row.Payload.Max
		}
		if payload < least || payload > most {
			return nil, 0, fmt.Errorf("`%s` carries %d to %d bytes and not %d", row.Name, least, most, payload)
		}
		return row, payload, nil
	}
	return nil, 0, fmt.Errorf("there is no mechanism `%s` here", spelling.Mechanism)
}

// OpenCall opens the operation of a call.
func (r *Row) OpenCall(payload int) (Call, error) {
	return r.call(payload)
}

// OpenPair makes a link between two goroutines of this process.
func (r *Row) OpenPair(payload int) (caller, callee Channel, err error) {
	if r.pair == nil {
		return nil, nil, fmt.Errorf("`%s` is played between processes alone: give each end its half of a link", r.Name)
	}
	return r.pair(payload)
}

// Attach takes one end of a link.
func (r *Row) Attach(spelling *protocol.Case, callee bool, payload int, link *protocol.Link) (Channel, error) {
	if r.attach == nil {
		return nil, fmt.Errorf("`%s` makes its link itself, between two goroutines: give both ends and no link", r.Name)
	}
	channel, err := r.attach(end{link.FDs, callee, message.New(payload), spelling})
	if err != nil {
		return nil, fmt.Errorf("taking the link: %w", err)
	}
	return channel, nil
}

// ErrPeerClosed is the error of an end whose partner is gone.
var ErrPeerClosed = errors.New("the other end closed the link")

// linkError is the error of a link: that the partner is gone is said the same way,
// however it is noticed.
func linkError(doing string, err error) error {
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNREFUSED} {
		if errors.Is(err, gone) {
			return ErrPeerClosed
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
