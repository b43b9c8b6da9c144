package mechanism

import (
	"io"

	"hopcost-go-worker/internal/message"
)

// stream is a message of fixed length over byte streams.
type stream struct {
	in       io.Reader
	out      io.Writer
	contents *message.Contents
	received []byte
}

func newStream(in io.Reader, out io.Writer, contents *message.Contents) *stream {
	return &stream{in, out, contents, make([]byte, contents.Payload())}
}

func (s *stream) Send(sequence uint64) error {
	if _, err := s.out.Write(s.contents.Of(sequence)); err != nil {
		return linkError("writing", err)
	}
	return nil
}

func (s *stream) Receive(sequence uint64) error {
	if _, err := io.ReadFull(s.in, s.received); err != nil {
		return linkError("reading", err)
	}
	return s.contents.Check(sequence, s.received)
}

// kernelCopies is the same for every byte stream, and for packets.
const kernelCopies = "the kernel, twice a message: from the sender into its buffer, from there to the receiver; the library copies nothing"

// readReadySleep is what an end does between two messages, in system calls.
const readReadySleep = "read finds nothing (EAGAIN), the goroutine parks, the runtime looks for others " +
	"and sleeps in epoll_pwait, the second read takes the message"
