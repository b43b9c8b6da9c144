package mechanism

var goroutineStart = Row{
	Facts: ofCalls(Facts{
		Name:          "goroutine-start",
		Family:        "call",
		About:         "start a goroutine and wait for it, by an unbuffered channel",
		Crosses:       "nothing: an empty struct by the channel",
		Copies:        "nobody",
		Wakes:         "the goroutine's send makes the waiting one ready to run; a sleeping thread of the runtime may be woken for the new goroutine",
		BetweenStamps: "batches of the go statement, a receive that parks, in the new goroutine a send, its end, and the waiter running again",
		Limits:        "the runtime takes the goroutine and its stack of 2 KiB from those that have ended; nothing is allocated",
		Sources:       []string{"https://go.dev/ref/spec#Go_statements"},
	}),
	call: func(int) (Call, error) {
		starter := &starter{done: make(chan struct{})}
		starter.body = func() { starter.done <- struct{}{} }
		return starter, nil
	},
}

type starter struct {
	done chan struct{}
	// body is made once: a closure made in the loop would be allocated there.
	body func()
}

func (s *starter) Repeat(n uint64) error {
	for ; n > 0; n-- {
		go s.body()
		<-s.done
	}
	return nil
}
