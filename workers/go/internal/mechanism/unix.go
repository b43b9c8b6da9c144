package mechanism

import "net"

var unixSources = []string{"https://pkg.go.dev/net#UnixConn", "unix(7)", "epoll(7)"}

var unixStream = Row{
	Facts: ofDescriptors(Facts{
		Name:          "unix-stream",
		Family:        "unix socket",
		About:         "net.UnixConn on a Unix stream socket",
		Payload:       &Payload{1, payloadMax, 64},
		Crosses:       "the message's bytes, in socket buffers queued at the receiving socket",
		Copies:        kernelCopies,
		BetweenStamps: "write, " + readReadySleep + "; the same on the other side",
		Limits:        "1 byte to 64 KiB",
		Sources:       unixSources,
	}),
	attach: func(end end) (Channel, error) {
		conn, err := socketOf(end, "unix")
		if err != nil {
			return nil, err
		}
		return newStream(conn, conn, end.contents), nil
	},
}

var unixDgram = Row{
	Facts: ofDescriptors(Facts{
		Name:          "unix-dgram",
		Family:        "unix socket",
		About:         "net.UnixConn on connected Unix datagram sockets",
		Payload:       &Payload{0, payloadMax, 64},
		Crosses:       "one datagram a message, in a socket buffer queued at the receiving socket",
		Copies:        kernelCopies,
		BetweenStamps: "write, " + readReadySleep + "; the same on the other side",
		Limits:        "0 bytes to 64 KiB; there is no end-of-file, so an end that waits for a dead partner is ended by its deadline",
		Sources:       unixSources,
	}),
	attach: attachUnixPackets("unixgram"),
}

var unixSeqpacket = Row{
	Facts: ofDescriptors(Facts{
		Name:          "unix-seqpacket",
		Family:        "unix socket",
		About:         "net.UnixConn on a pair of Unix sequenced-packet sockets",
		Payload:       &Payload{1, payloadMax, 64},
		Crosses:       "one packet a message, in a socket buffer queued at the receiving socket",
		Copies:        kernelCopies,
		BetweenStamps: "write, " + readReadySleep + "; the same on the other side",
		Limits:        "1 byte (an empty packet cannot be told from end-of-file) to 64 KiB",
		Sources:       unixSources,
	}),
	attach: attachUnixPackets("unixpacket"),
}

func attachUnixPackets(network string) func(end end) (Channel, error) {
	return func(end end) (Channel, error) {
		var conn net.Conn
		conn, err := socketOf(end, network)
		if err != nil {
			return nil, err
		}
		return newPackets(conn, end.contents), nil
	}
}
