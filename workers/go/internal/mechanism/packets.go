package mechanism

import (
	"net"

	"hopcost-go-worker/internal/message"
)

// packets is a message as one packet on a connected socket.
type packets struct {
	conn     net.Conn
	contents *message.Contents
	// received has room for a byte more than a message, so that a longer one is seen as such.
	received []byte
}

func newPackets(conn net.Conn, contents *message.Contents) *packets {
	return &packets{conn, contents, make([]byte, contents.Payload()+1)}
}

func (p *packets) Send(sequence uint64) error {
	if _, err := p.conn.Write(p.contents.Of(sequence)); err != nil {
		return linkError("sending", err)
	}
	return nil
}

func (p *packets) Receive(sequence uint64) error {
	n, err := p.conn.Read(p.received)
	if err != nil {
		return linkError("receiving", err)
	}
	return p.contents.Check(sequence, p.received[:n])
}
