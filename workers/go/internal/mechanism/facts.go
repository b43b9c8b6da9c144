package mechanism

// Facts are what describe says of a mechanism.
type Facts struct {
	Name          string      `json:"name"`
	Family        string      `json:"family"`
	About         string      `json:"about"`
	Unavailable   string      `json:"unavailable,omitempty"`
	Workloads     []string    `json:"workloads"`
	Boundaries    []string    `json:"boundaries"`
	Placements    []string    `json:"placements,omitempty"`
	Waits         []string    `json:"waits"`
	Payload       *Payload    `json:"payload,omitempty"`
	Parameters    []Parameter `json:"parameters,omitempty"`
	Link          string      `json:"link"`
	Peers         string      `json:"peers"`
	Crosses       string      `json:"crosses"`
	Copies        string      `json:"copies"`
	Wakes         string      `json:"wakes"`
	BetweenStamps string      `json:"between_stamps"`
	Limits        string      `json:"limits"`
	Sources       []string    `json:"sources"`
	SystemCalls   *Range      `json:"system_calls,omitempty"`
	Revision      int         `json:"revision,omitempty"`
}

// Payload is the bytes that a message may have.
type Payload struct {
	Min     int `json:"min"`
	Max     int `json:"max"`
	Default int `json:"default"`
}

// Parameter is a key of the case's spelling.
type Parameter struct {
	Name    string   `json:"name"`
	Values  []string `json:"values"`
	Default string   `json:"default"`
	About   string   `json:"about"`
}

// Range is how often something happens in one operation, both ends together.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// payloadMax is the longest message of mechanisms that set no bound themselves.
const payloadMax = 64 * 1024

// roundtripRevision is that of every round trip, to which a row adds its own: raised when the
// number of different messages came to depend on their length.
const roundtripRevision = 2

// ofGoroutines fills in what rows between two goroutines have in common. The
// scheduler moves goroutines between threads, so an end cannot be put on a CPU of
// its own; the whole process can.
func ofGoroutines(facts Facts) Facts {
	facts.Workloads = []string{"roundtrip"}
	facts.Revision += roundtripRevision
	facts.Boundaries = []string{"thread"}
	facts.Placements = []string{"same-cpu", "free"}
	facts.Waits = []string{"block"}
	facts.Link = "own"
	facts.Peers = "own"
	return facts
}

// ofDescriptors fills in what rows over inherited descriptors have in common.
func ofDescriptors(facts Facts) Facts {
	facts.Workloads = []string{"roundtrip"}
	facts.Revision += roundtripRevision
	facts.Boundaries = []string{"process"}
	facts.Waits = []string{"block"}
	facts.Link = "descriptors"
	facts.Peers = "any"
	facts.Wakes = "the kernel makes the descriptor ready from within the sender's write; that ends " +
		"the epoll_pwait in which the receiver's runtime sleeps, which then runs the goroutine"
	facts.BetweenStamps += "; the end is a goroutine that is not locked to a thread, as in any program in Go " +
		"(with runtime.LockOSThread each wake-up is handed from one thread to another: round trips then took " +
		"1.1 to 2.9 times as long where this was written)"
	facts.Limits += "; an end has no thread id; two processes only, because goroutines of one process cannot be " +
		"placed apart; system calls are some 8 to 14 a round trip, by how often the message is there before the " +
		"reader looks, and those of the runtime's monitoring thread"
	return facts
}

// ofCalls fills in what calls have in common.
func ofCalls(facts Facts) Facts {
	facts.Workloads = []string{"call"}
	facts.Boundaries = []string{}
	facts.Waits = []string{}
	facts.Link = "own"
	facts.Peers = "own"
	return facts
}
