package mechanism

import (
	"fmt"
	"net"
)

var tcp = Row{
	Facts: ofDescriptors(Facts{
		Name:    "tcp",
		Family:  "inet socket",
		About:   "net.TCPConn over loopback",
		Payload: &Payload{1, payloadMax, 64},
		Parameters: []Parameter{{
			Name: "nodelay", Values: []string{"on", "off"}, Default: "on",
			About: "TCP_NODELAY, which package net sets by itself; off by SetNoDelay(false)",
		}},
		Crosses:       "the message's bytes, as segments through the loopback device",
		Copies:        kernelCopies,
		BetweenStamps: "write with the whole way through the network stack, " + readReadySleep + "; the same on the other side",
		Limits:        "1 byte to 64 KiB; package net also turns on SO_KEEPALIVE; firewall rules are part of the number",
		Sources:       []string{"https://pkg.go.dev/net#TCPConn", "tcp(7)", "epoll(7)"},
	}),
	attach: func(end end) (Channel, error) {
		conn, err := tcpOf(end)
		if err != nil {
			return nil, err
		}
		return newStream(conn, conn, end.contents), nil
	},
}

// tcpOf is the inherited connection with the case's TCP_NODELAY.
func tcpOf(end end) (*net.TCPConn, error) {
	conn, err := socketOf(end, "tcp")
	if err != nil {
		return nil, err
	}
	connection := conn.(*net.TCPConn)
	switch nodelay := end.spelling.Value("nodelay"); nodelay {
	case "on", "":
		return connection, connection.SetNoDelay(true)
	case "off":
		return connection, connection.SetNoDelay(false)
	default:
		return nil, fmt.Errorf("nodelay is on or off and not `%s`", nodelay)
	}
}
