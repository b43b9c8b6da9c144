package mechanism

import "sync"

var mutexUncontended = Row{
	Facts: ofCalls(Facts{
		Name:          "mutex-uncontended",
		Family:        "call",
		About:         "lock and unlock a sync.Mutex that is free",
		Crosses:       "nothing",
		Copies:        "nobody",
		Wakes:         "nobody",
		BetweenStamps: "batches of Lock, an addition, Unlock, and the counter of the loop",
		Limits:        "a mutex in the own cache; with contention the runtime parks the goroutine",
		Sources:       []string{"https://pkg.go.dev/sync#Mutex"},
		// The runtime's monitoring thread makes some now and then.
		SystemCalls: &Range{0, 0.01},
	}),
	call: func(int) (Call, error) { return new(lockedCounter), nil },
}

type lockedCounter struct {
	mutex   sync.Mutex
	counter uint64
}

func (l *lockedCounter) Repeat(n uint64) error {
	for ; n > 0; n-- {
		l.mutex.Lock()
		l.counter++
		l.mutex.Unlock()
	}
	return nil
}
