// Package message makes and checks the numbered messages of a trial.
package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Kinds is how many different messages of this many bytes there are, a power of two:
// number s has the content of s mod Kinds.
func Kinds(payload int) int {
	kinds := 256
	for kinds > 4 && kinds*payload > 16*1024 {
		kinds /= 2
	}
	return kinds
}

// Contents holds every message ready. Each end makes its own: bytes.Equal does
// not look at bytes that are the very same memory.
type Contents struct {
	payload int
	each    [][]byte
	// last is one less than their number.
	last uint64
}

// New makes the messages of this many bytes.
func New(payload int) *Contents {
	kinds := Kinds(payload)
	contents := &Contents{payload: payload, each: make([][]byte, kinds), last: uint64(kinds - 1)}
	all := make([]byte, kinds*payload)
	for number := range contents.each {
		bytes := all[number*payload : (number+1)*payload : (number+1)*payload]
		fill(bytes, uint64(number))
		contents.each[number] = bytes
	}
	return contents
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

// Payload is the bytes of a message.
func (c *Contents) Payload() int {
	return c.payload
}

// Of is the content of this message, not to be written to.
func (c *Contents) Of(sequence uint64) []byte {
	return c.each[sequence&c.last]
}

// Is says whether these bytes are this message.
func (c *Contents) Is(sequence uint64, received []byte) bool {
	return bytes.Equal(received, c.each[sequence&c.last])
}

// Check is nil if these bytes are this message, and says otherwise what is wrong.
func (c *Contents) Check(sequence uint64, received []byte) error {
	if bytes.Equal(received, c.each[sequence&c.last]) {
		return nil
	}
	if len(received) != c.payload {
		return fmt.Errorf("message %d arrived with %d bytes instead of %d", sequence, len(received), c.payload)
	}
	return fmt.Errorf("message %d did not arrive as it was sent", sequence)
}
