package mechanism

var udp = Row{
	Facts: ofDescriptors(Facts{
		Name:          "udp",
		Family:        "inet socket",
		About:         "net.UDPConn, connected, over loopback",
		Payload:       &Payload{0, 65507, 64},
		Crosses:       "one datagram a message, through the loopback device",
		Copies:        kernelCopies,
		BetweenStamps: "write with the whole way through the network stack, " + readReadySleep + "; the same on the other side",
		Limits:        "0 to 65,507 bytes; as the caller it waits for a lost datagram until the trial's deadline, because a deadline on every read would be a timer in the number; as the callee it answers again",
		Sources:       []string{"https://pkg.go.dev/net#UDPConn", "udp(7)", "epoll(7)"},
	}),
	attach: func(end end) (Channel, error) {
		conn, err := socketOf(end, "udp")
		if err != nil {
			return nil, err
		}
		if end.callee {
			return &answeringAgain{*newPackets(conn, end.contents)}, nil
		}
		return newPackets(conn, end.contents), nil
	},
}

// answeringAgain is the callee where messages can be lost: one that comes a second
// time has been answered, and the answer was lost.
type answeringAgain struct {
	packets
}

// repeatsMax is how many messages of the past are answered in a row at most.
const repeatsMax = 10_000

func (a *answeringAgain) Receive(sequence uint64) error {
	var err error
	for i := 0; i < repeatsMax; i++ {
		var n int
		if n, err = a.conn.Read(a.received); err != nil {
			return linkError("receiving", err)
		}
		received := a.received[:n]
		if err = a.contents.Check(sequence, received); err == nil {
			return nil
		}
		// Without payload no message can be told from another.
		if n == 0 || sequence < 3 || !a.contents.Is(sequence-2, received) {
			return err
		}
		if err := a.Send(sequence - 1); err != nil {
			return err
		}
	}
	return err
}
