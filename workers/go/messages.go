package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// kindsOf is how many different messages of this many bytes there are, a power of two:
// number s has the content of s mod kindsOf.
func kindsOf(payload int) int {
	kinds := 256
	for kinds > 4 && kinds*payload > 16*1024 {
		kinds /= 2
	}
	return kinds
}

// messages holds every message ready. Each end makes its own: bytes.Equal does
// not look at bytes that are the very same memory.
type messages struct {
	payload int
	each    [][]byte
	// last is one less than their number.
	last uint64
}

// newMessages makes the messages of this many bytes.
func newMessages(payload int) *messages {
	kinds := kindsOf(payload)
	made := &messages{payload: payload, each: make([][]byte, kinds), last: uint64(kinds - 1)}
	all := make([]byte, kinds*payload)
	for number := range made.each {
		bytes := all[number*payload : (number+1)*payload : (number+1)*payload]
		fill(bytes, uint64(number))
		made.each[number] = bytes
	}
	return made
}

// fill writes the little-endian words from number·0x9E37… on, cut off at the end.
func fill(buffer []byte, number uint64) {
	word := number * 0x9E3779B97F4A7C15
	var last [8]byte
	for len(buffer) > 0 {
		binary.LittleEndian.PutUint64(last[:], word)
		buffer = buffer[copy(buffer, last[:]):]
		word++
	}
}

// of is the content of this message, not to be written to.
func (m *messages) of(sequence uint64) []byte {
	return m.each[sequence&m.last]
}

// is says whether these bytes are this message.
func (m *messages) is(sequence uint64, received []byte) bool {
	return bytes.Equal(received, m.each[sequence&m.last])
}

// check is nil if these bytes are this message, and says otherwise what is wrong.
func (m *messages) check(sequence uint64, received []byte) error {
	if bytes.Equal(received, m.each[sequence&m.last]) {
		return nil
	}
	if len(received) != m.payload {
		return fmt.Errorf("message %d arrived with %d bytes instead of %d", sequence, len(received), m.payload)
	}
	return fmt.Errorf("message %d did not arrive as it was sent", sequence)
}
