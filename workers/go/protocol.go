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
	Link *link `json:"link"`
}

type link struct {
	FDs []int `json:"fds"`
}

// stamp is how operations are stamped.
type stamp struct {
	Kind string `json:"kind"`
	N    uint64 `json:"n"`
}

// reply is any of the replies: its fields by name.
type reply map[string]any
