package main

import "sync"

// channelPair makes two ends that send each other slices over channels of this capacity.
func channelPair(capacity int) func(payload int) (caller, callee channel, err error) {
	return func(payload int) (channel, channel, error) {
		requests, replies := make(chan []byte, capacity), make(chan []byte, capacity)
		return newSliceEnd(requests, replies, payload), newSliceEnd(replies, requests, payload), nil
	}
}

type sliceEnd struct {
	out      chan<- []byte
	in       <-chan []byte
	messages *messages
	// message is read by the partner until it answers.
	message []byte
}

func newSliceEnd(out, in chan []byte, payload int) *sliceEnd {
	return &sliceEnd{out, in, newMessages(payload), make([]byte, payload)}
}

func (e *sliceEnd) send(sequence uint64) error {
	copy(e.message, e.messages.of(sequence))
	e.out <- e.message
	return nil
}

func (e *sliceEnd) receive(sequence uint64) error {
	return e.messages.check(sequence, <-e.in)
}

// handOff is what the two ends of a condvar share.
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

type handOffEnd struct {
	mutex    *sync.Mutex
	out, in  *way
	messages *messages
}

func condvarPair(payload int) (caller, callee channel, err error) {
	shared := new(handOff)
	for i := range shared.ways {
		shared.ways[i] = way{condition: sync.NewCond(&shared.mutex), bytes: make([]byte, payload)}
	}
	requests, replies := &shared.ways[0], &shared.ways[1]
	caller = &handOffEnd{&shared.mutex, requests, replies, newMessages(payload)}
	callee = &handOffEnd{&shared.mutex, replies, requests, newMessages(payload)}
	return caller, callee, nil
}

func (e *handOffEnd) send(sequence uint64) error {
	copy(e.out.bytes, e.messages.of(sequence))
	e.mutex.Lock()
	e.out.notified = true
	e.out.condition.Signal()
	e.mutex.Unlock()
	return nil
}

func (e *handOffEnd) receive(sequence uint64) error {
	e.mutex.Lock()
	for !e.in.notified {
		e.in.condition.Wait()
	}
	e.in.notified = false
	e.mutex.Unlock()
	return e.messages.check(sequence, e.in.bytes)
}
