package main

import (
	"fmt"
	"net"
	"sync"
)

// lockedCounter locks and unlocks a mutex that is free.
type lockedCounter struct {
	mutex   sync.Mutex
	counter uint64
}

func newLockedCounter(int) (operation, error) { return new(lockedCounter), nil }

func (l *lockedCounter) repeat(n uint64) error {
	for ; n > 0; n-- {
		l.mutex.Lock()
		l.counter++
		l.mutex.Unlock()
	}
	return nil
}

// starter starts a goroutine and waits for it.
type starter struct {
	done chan struct{}
	// body is made once: a closure made in the loop would be allocated there.
	body func()
}

func newStarter(int) (operation, error) {
	starter := &starter{done: make(chan struct{})}
	starter.body = func() { starter.done <- struct{}{} }
	return starter, nil
}

func (s *starter) repeat(n uint64) error {
	for ; n > 0; n-- {
		go s.body()
		<-s.done
	}
	return nil
}

// unreadSender sends datagrams that nobody reads.
type unreadSender struct {
	socket *net.UDPConn
	// receiver is never read; open, so that its port is bound.
	receiver *net.UDPConn
	message  []byte
}

// fillers is far more datagrams than fit a receive buffer of the least size.
const fillers = 256

// newUnreadSender fills the receiver's buffer, so that from here on every datagram
// is dropped at it. Sent to a port that nobody has bound, every other would fail.
func newUnreadSender(payload int) (operation, error) {
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
	sender := &unreadSender{socket, receiver, newMessages(payload).of(1)}
	return sender, sender.repeat(fillers)
}

func (s *unreadSender) repeat(n uint64) error {
	for ; n > 0; n-- {
		if _, err := s.socket.Write(s.message); err != nil {
			return fmt.Errorf("sending a datagram: %w", err)
		}
	}
	return nil
}
