package main

// The lines on standard input and output (workers/PROTOCOL.md).

// command is any of the commands, with the fields of all that this worker knows.
type command struct {
	Do string `json:"do"`
	// attach
	Workload   string            `json:"workload"`
	Mechanism  string            `json:"mechanism"`
	Payload    int               `json:"payload"`
	Parameters map[string]string `json:"parameters"`
	Seats      []seat            `json:"seats"`
	SamplesFD  *int              `json:"samples_fd"`
	ScheduleFD *int              `json:"schedule_fd"`
	// clock
	CPU int `json:"cpu"`
	// run
	Phase string `json:"phase"`
	Count uint64 `json:"count"`
	Stamp stamp  `json:"stamp"`
}

// seat is one end to play.
type seat struct {
	Role string `json:"role"`
	// Link is this end's half of one; nil where the worker makes the link itself.
	Link *link `json:"link,omitempty"`
	// TID is 0: a goroutine has no thread of its own.
	TID int `json:"tid"`
}

type link struct {
	FDs []int `json:"fds"`
}

// stamp is how operations are stamped.
type stamp struct {
	Kind string `json:"kind"`
	N    uint64 `json:"n"`
}

// reply is any of the replies, with the fields of all.
type reply struct {
	Is string `json:"is"`
	// failed; Cause is partnerGone, or nothing.
	Reason string `json:"reason,omitempty"`
	Cause  string `json:"cause,omitempty"`
	// attached
	PID   int    `json:"pid,omitempty"`
	Seats []seat `json:"seats,omitempty"`
	// ran
	Ends []end `json:"ends,omitempty"`
	// clock and described
	Runtime string `json:"runtime,omitempty"`
	*clockReading
	*description
}

// partnerGone is the cause of an end that knows no more than that the other one is gone.
const partnerGone = "partner-gone"

// end is what one end counted over a phase.
type end struct {
	Role         string `json:"role"`
	Count        uint64 `json:"count"`
	Samples      uint64 `json:"samples"`
	MaxTicks     uint64 `json:"max_ticks"`
	ElapsedTicks uint64 `json:"elapsed_ticks"`
	FirstTick    uint64 `json:"first_tick,omitempty"`
	Overruns     uint64 `json:"overruns,omitempty"`
}

type clockReading struct {
	CPU            int     `json:"cpu"`
	Source         string  `json:"source"`
	TicksPerSecond float64 `json:"ticks_per_second"`
	StampMinNS     float64 `json:"stamp_min_ns"`
	StampP50NS     float64 `json:"stamp_p50_ns"`
	StampP99NS     float64 `json:"stamp_p99_ns"`
}

type description struct {
	Protocol   int                  `json:"protocol"`
	Version    string               `json:"version"`
	Libraries  map[string]string    `json:"libraries"`
	Remarks    []string             `json:"remarks"`
	Mechanisms []describedMechanism `json:"mechanisms"`
}

// describedMechanism is what only the worker knows; the rest stands in worker.toml.
type describedMechanism struct {
	Name     string `json:"name"`
	Revision int    `json:"revision"`
}
