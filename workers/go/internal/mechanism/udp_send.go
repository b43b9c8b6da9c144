package mechanism

import (
	"fmt"
	"net"

	"hopcost-go-worker/internal/message"
)

var udpSend = Row{
	Facts: ofCalls(Facts{
		Name:          "udp-send",
		Family:        "call",
		About:         "send a UDP datagram over loopback that nobody reads, by net.UDPConn",
		Payload:       &Payload{0, 65507, 64},
		Crosses:       "one datagram, through the loopback device up to the receiving socket, whose full buffer it does not enter",
		Copies:        "the kernel, once: from the sender into a socket buffer, which it then frees",
		Wakes:         "nobody",
		BetweenStamps: "batches of Write on a connected UDPConn: the lock of the descriptor, entering and leaving a system call for the scheduler, write with the whole way through the network stack up to the drop",
		Limits:        "the receiver is a socket of the same process that is never read; the drop is cheaper than queueing and being read; firewall rules are part of the number",
		Sources:       []string{"https://pkg.go.dev/net#UDPConn.Write", "udp(7)"},
		SystemCalls:   &Range{1, 1.5},
	}),
	call: func(payload int) (Call, error) { return newUnreadSender(payload) },
}

// fillers is far more datagrams than fit a receive buffer of the least size.
const fillers = 256

type unreadSender struct {
	socket *net.UDPConn
	// receiver is never read; open, so that its port is bound.
	receiver *net.UDPConn
	message  []byte
}

// newUnreadSender fills the receiver's buffer, so that from here on every datagram
// is dropped at it. Sent to a port that nobody has bound, every other would fail.
func newUnreadSender(payload int) (*unreadSender, error) {
	receiver, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("binding a UDP socket to 127.0.0.1: %w", err)
	}
	// The kernel raises this to its least.
	if err := receiver.SetReadBuffer(1); err != nil {
		return nil, err
	}
	socket, err := net.DialUDP("udp4", nil, receiver.LocalAddr().(*net.UDPAddr))
	if err != nil {
		return nil, fmt.Errorf("connecting a UDP socket to 127.0.0.1: %w", err)
	}
	sender := &unreadSender{socket, receiver, message.New(payload).Of(1)}
	return sender, sender.Repeat(fillers)
}

func (s *unreadSender) Repeat(n uint64) error {
	for ; n > 0; n-- {
		if _, err := s.socket.Write(s.message); err != nil {
			return fmt.Errorf("sending a datagram: %w", err)
		}
	}
	return nil
}
