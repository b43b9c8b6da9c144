// Package message makes and checks the numbered messages of a trial.
package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// kinds is how many different messages there are: number s has the content of s mod 256.
const kinds = 256

// Contents holds every message ready. Each end makes its own: bytes.Equal does
// not look at bytes that are the very same memory.
type Contents struct {
	payload int
	each    [kinds][]byte
}

// New makes the messages of this many bytes.
func New(payload int) *Contents {
	contents := &Contents{payload: payload}
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
	return c.each[sequence%kinds]
}

// Is says whether these bytes are this message.
func (c *Contents) Is(sequence uint64, received []byte) bool {
	return bytes.Equal(received, c.each[sequence%kinds])
}

// Check is nil if these bytes are this message, and says otherwise what is wrong.
func (c *Contents) Check(sequence uint64, received []byte) error {
	if bytes.Equal(received, c.each[sequence%kinds]) {
		return nil
	}
	if len(received) != c.payload {
		return fmt.Errorf("message %d arrived with %d bytes instead of %d", sequence, len(received), c.payload)
	}
	return fmt.Errorf("message %d did not arrive as it was sent", sequence)
}
