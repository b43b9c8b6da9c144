package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"hopcost-go-worker/internal/clock"
	"hopcost-go-worker/internal/mechanism"
	"hopcost-go-worker/internal/protocol"
)

const (
	runtimeName   = "go"
	workerVersion = "0.1.0"
)

type description struct {
	Is         string            `json:"is"`
	Protocol   int               `json:"protocol"`
	Runtime    string            `json:"runtime"`
	Version    string            `json:"version"`
	Libraries  map[string]string `json:"libraries"`
	Remarks    []string          `json:"remarks"`
	Clock      describedClock    `json:"clock"`
	WarmUp     string            `json:"warm_up"`
	Mechanisms []mechanism.Facts `json:"mechanisms"`
}

type describedClock struct {
	Source         string  `json:"source"`
	TicksPerSecond float64 `json:"ticks_per_second"`
}

func describe() description {
	answer := description{
		Is: "described", Protocol: protocol.Version, Runtime: runtimeName, Version: workerVersion,
		Libraries: libraries(), Remarks: remarks(),
		Clock: describedClock{clock.Source, clock.TicksPerSecond}, WarmUp: "planned",
	}
	for _, row := range mechanism.All {
		answer.Mechanisms = append(answer.Mechanisms, row.Facts)
	}
	return answer
}

// libraries are those linked in, with their versions, and Go itself.
func libraries() map[string]string {
	found := map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			found[module.Path] = strings.TrimPrefix(module.Version, "v")
		}
	}
	return found
}

// remarks are what of the runtime shapes its numbers.
func remarks() []string {
	return []string{
		fmt.Sprintf("the garbage collector is on (GOGC %s); no loop of the worker allocates, but websocket's library does", setting("GOGC", "100, the default")),
		fmt.Sprintf("GOMAXPROCS is %d here; unless it is set it follows the CPUs that the process is confined to, one under same-cpu", runtime.GOMAXPROCS(0)),
		"every end is a goroutine that is not locked to a thread; descriptors do not block and are waited for by the runtime's poller (epoll)",
	}
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
