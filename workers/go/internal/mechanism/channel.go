package mechanism

import "hopcost-go-worker/internal/message"

var channelUnbuffered = channelRow(Facts{
	Name:          "channel-unbuffered",
	About:         "two unbuffered channels of slices, one per direction, between two goroutines",
	Wakes:         "the sender hands the slice to the waiting goroutine and makes it ready to run; a sender that finds nobody waiting parks until its partner receives",
	BetweenStamps: "copy into the own buffer, send the slice, park in the receive, be made ready, compare; the same on the other side",
}, 0)

var channelBuffered = channelRow(Facts{
	Name:          "channel-buffered",
	About:         "two channels of slices with room for one, one per direction, between two goroutines",
	Wakes:         "the sender hands the slice to the waiting goroutine and makes it ready to run; one that finds nobody waiting leaves the slice in the channel and goes on",
	BetweenStamps: "copy into the own buffer, send the slice, park in the receive unless the answer is there, be made ready, compare; the same on the other side",
}, 1)

func channelRow(facts Facts, capacity int) Row {
	facts.Family = "channel"
	facts.Payload = &Payload{0, payloadMax, 64}
	facts.Crosses = "a slice header (pointer, length, capacity); the bytes stay where the sender wrote them"
	facts.Copies = "the sender, once: it writes the message into a buffer that it uses again; the receiver compares there, copying nothing"
	facts.Limits = "two goroutines of one process: the kernel sees no switch between them while one thread runs both"
	facts.Sources = []string{"https://go.dev/ref/spec#Channel_types", "https://go.dev/ref/mem#chan"}
	return Row{
		Facts: ofGoroutines(facts),
		pair: func(payload int) (Channel, Channel, error) {
			requests, replies := make(chan []byte, capacity), make(chan []byte, capacity)
			return newSliceEnd(requests, replies, payload), newSliceEnd(replies, requests, payload), nil
		},
	}
}

type sliceEnd struct {
	out      chan<- []byte
	in       <-chan []byte
	contents *message.Contents
	// message is read by the partner until it answers.
	message []byte
}

func newSliceEnd(out, in chan []byte, payload int) *sliceEnd {
	return &sliceEnd{out, in, message.New(payload), make([]byte, payload)}
}

func (e *sliceEnd) Send(sequence uint64) error {
	copy(e.message, e.contents.Of(sequence))
	e.out <- e.message
	return nil
}

func (e *sliceEnd) Receive(sequence uint64) error {
	return e.contents.Check(sequence, <-e.in)
}
