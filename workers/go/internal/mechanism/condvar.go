package mechanism

import (
	"sync"

	"hopcost-go-worker/internal/message"
)

var condvar = Row{
	Facts: ofGoroutines(Facts{
		Name:          "condvar",
		Family:        "notifier",
		About:         "a sync.Mutex and a sync.Cond with a predicate per direction, between two goroutines",
		Payload:       &Payload{0, payloadMax, 0},
		Crosses:       "one predicate per direction (and, with a payload, a shared buffer)",
		Copies:        "with a payload, each end copies its message into the shared buffer, and the other's is compared there",
		Wakes:         "the notifying goroutine makes the waiting one ready to run, with the mutex held; on one CPU the runtime switches between them in user space, on two it may wake a thread by a futex",
		BetweenStamps: "copy, lock, set, Signal, unlock; lock, Wait, clear, unlock, compare; the same on the other side",
		Limits:        "two goroutines of one process: the kernel sees no switch between them while one thread runs both",
		Sources:       []string{"https://pkg.go.dev/sync#Cond"},
		Revision:      1,
	}),
	pair: func(payload int) (Channel, Channel, error) {
		shared := newHandOff(payload)
		return newHandOffEnd(shared, 0, payload), newHandOffEnd(shared, 1, payload), nil
	},
}

// handOff is what the two ends share.
type handOff struct {
	mutex sync.Mutex
	ways  [2]way
}

// way is one direction.
type way struct {
	condition *sync.Cond
	// notified is the predicate; the mutex guards it.
	notified bool
	// bytes belong to the sender until it notifies and then to the receiver.
	bytes []byte
}

func newHandOff(payload int) *handOff {
	shared := new(handOff)
	for i := range shared.ways {
		shared.ways[i] = way{condition: sync.NewCond(&shared.mutex), bytes: make([]byte, payload)}
	}
	return shared
}

type handOffEnd struct {
	mutex    *sync.Mutex
	out, in  *way
	contents *message.Contents
}

func newHandOffEnd(shared *handOff, own int, payload int) *handOffEnd {
	return &handOffEnd{&shared.mutex, &shared.ways[own], &shared.ways[1-own], message.New(payload)}
}

func (e *handOffEnd) Send(sequence uint64) error {
	copy(e.out.bytes, e.contents.Of(sequence))
	e.mutex.Lock()
	e.out.notified = true
	e.out.condition.Signal()
	e.mutex.Unlock()
	return nil
}

func (e *handOffEnd) Receive(sequence uint64) error {
	e.mutex.Lock()
	for !e.in.notified {
		e.in.condition.Wait()
	}
	e.in.notified = false
	e.mutex.Unlock()
	return e.contents.Check(sequence, e.in.bytes)
}
