package mechanism

import "fmt"

var pipe = Row{
	Facts: ofDescriptors(Facts{
		Name:          "pipe",
		Family:        "pipe",
		About:         "os.File.Read and Write on two pipes that do not block, by the runtime's poller",
		Payload:       &Payload{1, payloadMax, 64},
		Crosses:       "the message's bytes, through a kernel buffer of 64 KiB per direction",
		Copies:        kernelCopies,
		BetweenStamps: "write, " + readReadySleep + "; the same on the other side",
		Limits:        "1 byte to 64 KiB; inherited pipes are set to O_NONBLOCK, as those of os.Pipe are",
		Sources:       []string{"https://pkg.go.dev/os#File", "pipe(7)", "epoll(7)"},
	}),
	attach: func(end end) (Channel, error) {
		if len(end.fds) != 2 {
			return nil, fmt.Errorf("a pipe each way is two descriptors and not %d", len(end.fds))
		}
		in, err := inheritedFile(end.fds[0], "incoming")
		if err != nil {
			return nil, err
		}
		out, err := inheritedFile(end.fds[1], "outgoing")
		if err != nil {
			return nil, err
		}
		return newStream(in, out, end.contents), nil
	},
}
