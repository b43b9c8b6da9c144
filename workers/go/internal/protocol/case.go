package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// Case is what a case's spelling says, as far as this worker needs it.
type Case struct {
	Workload, Mechanism string
	keys                map[string]string
}

// ParseCase reads the canonical spelling, workload/mechanism?key=value&…
func ParseCase(spelling string) (*Case, error) {
	path, query, _ := strings.Cut(spelling, "?")
	workload, mechanism, found := strings.Cut(path, "/")
	if !found || workload == "" || mechanism == "" {
		return nil, fmt.Errorf("`%s` is no case such as roundtrip/pipe?payload=64", spelling)
	}
	parsed := &Case{Workload: workload, Mechanism: mechanism, keys: map[string]string{}}
	if query == "" {
		return parsed, nil
	}
	for _, pair := range strings.Split(query, "&") {
		key, value, found := strings.Cut(pair, "=")
		if !found {
			return nil, fmt.Errorf("`%s` is no key and value, in the case `%s`", pair, spelling)
		}
		parsed.keys[key] = value
	}
	return parsed, nil
}

// Value of a key, empty where the case has none.
func (c *Case) Value(key string) string {
	return c.keys[key]
}

// Payload in bytes, 0 where the case has none.
func (c *Case) Payload() (int, error) {
	value, found := c.keys["payload"]
	if !found {
		return 0, nil
	}
	payload, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("`%s` is no payload in bytes", value)
	}
	return int(payload), nil
}
