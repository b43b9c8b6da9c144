// Package protocol is what is said on standard input and output (workers/PROTOCOL.md).
package protocol

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Version of the protocol.
const Version = 3

// LineMax is the longest line in bytes, either way.
const LineMax = 256 * 1024

// Command is any of the commands, with the fields of all that this worker knows.
type Command struct {
	Do string `json:"do"`
	// attach
	Case      string `json:"case"`
	Seats     []Seat `json:"seats"`
	SamplesFD *int   `json:"samples_fd"`
	// clock
	CPU int `json:"cpu"`
	// run
	Phase string `json:"phase"`
	Count uint64 `json:"count"`
	Stamp Stamp  `json:"stamp"`
}

// Seat is one end to play.
type Seat struct {
	Role string `json:"role"`
	Link *Link  `json:"link"`
}

// Link is this end's half of one; nil where the worker makes the link itself.
type Link struct {
	FDs []int `json:"fds"`
}

// Stamp is how operations are stamped.
type Stamp struct {
	Kind string `json:"kind"`
	N    uint64 `json:"n"`
}

// Attached answers attach.
type Attached struct {
	Is    string         `json:"is"`
	PID   int            `json:"pid"`
	Seats []AttachedSeat `json:"seats"`
}

// AttachedSeat is what became of a seat. A goroutine has no thread of its own: TID is 0.
type AttachedSeat struct {
	Role string `json:"role"`
	TID  int    `json:"tid"`
}

// Ran answers run.
type Ran struct {
	Is   string `json:"is"`
	Ends []End  `json:"ends"`
}

// End is what one end counted over a phase.
type End struct {
	Role         string `json:"role"`
	Count        uint64 `json:"count"`
	Samples      uint64 `json:"samples"`
	MaxTicks     uint64 `json:"max_ticks"`
	ElapsedTicks uint64 `json:"elapsed_ticks"`
}

// ClockReading answers clock.
type ClockReading struct {
	Is              string  `json:"is"`
	CPU             int     `json:"cpu"`
	Runtime         string  `json:"runtime"`
	Source          string  `json:"source"`
	TicksPerSecond  float64 `json:"ticks_per_second"`
	ResolutionTicks uint64  `json:"resolution_ticks"`
	StampMinNS      float64 `json:"stamp_min_ns"`
	StampP50NS      float64 `json:"stamp_p50_ns"`
	StampP99NS      float64 `json:"stamp_p99_ns"`
}

// Stopped answers stop.
type Stopped struct {
	Is string `json:"is"`
}

// Failed answers anything that cannot be done.
type Failed struct {
	Is     string `json:"is"`
	Reason string `json:"reason"`
	// Cause is PartnerGone, or nothing.
	Cause string `json:"cause,omitempty"`
}

// PartnerGone is the cause of an end that knows no more than that the other one is gone.
const PartnerGone = "partner-gone"

// Reader reads commands.
type Reader struct {
	lines *bufio.Scanner
}

// NewReader reads from standard input, or what a test puts in its place.
func NewReader(input io.Reader) *Reader {
	lines := bufio.NewScanner(input)
	lines.Buffer(make([]byte, 4096), LineMax)
	return &Reader{lines}
}

// Next is the next command; io.EOF at the end of input.
func (r *Reader) Next() (*Command, error) {
	if !r.lines.Scan() {
		switch err := r.lines.Err(); {
		case err == nil:
			return nil, io.EOF
		case errors.Is(err, bufio.ErrTooLong):
			return nil, fmt.Errorf("a command is longer than %d bytes", LineMax)
		default:
			return nil, fmt.Errorf("reading a command: %w", err)
		}
	}
	var command Command
	if err := json.Unmarshal(r.lines.Bytes(), &command); err != nil {
		return nil, fmt.Errorf("a command is not as documented: %w", err)
	}
	return &command, nil
}

// Write writes a reply as one line.
func Write(output io.Writer, reply any) error {
	encoder := json.NewEncoder(output)
	// The escaping is for HTML, and makes reasons hard to read.
	encoder.SetEscapeHTML(false)
	return encoder.Encode(reply)
}
