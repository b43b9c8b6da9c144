// The worker of hopcost for Go: plays ends of trials as workers/PROTOCOL.md says.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
)

const runtimeName = "go"

func main() {
	defer failOnPanic()
	endOnAlarm()
	commands := json.NewDecoder(os.Stdin)
	worker := new(worker)
	for {
		var next command
		err := commands.Decode(&next)
		if err == io.EOF {
			return
		}
		if err != nil {
			fail(fmt.Errorf("a command is not as documented: %w", err))
		}
		answer, err := worker.obey(&next)
		if err != nil {
			fail(err)
		}
		say(answer)
		if next.Do == "stop" {
			return
		}
	}
}

// endOnAlarm ends the process at its deadline. The runtime ignores SIGALRM unless
// it is asked for.
func endOnAlarm() {
	alarms := make(chan os.Signal, 1)
	signal.Notify(alarms, syscall.SIGALRM)
	go func() {
		<-alarms
		fmt.Fprintln(os.Stderr, "go worker: the deadline came (SIGALRM)")
		os.Exit(128 + int(syscall.SIGALRM))
	}()
}

type worker struct {
	trial *trial
}

// obey does what a command says.
func (w *worker) obey(command *command) (reply, error) {
	switch command.Do {
	case "describe":
		return reply{Is: "described", Runtime: runtimeName, description: describe()}, nil
	case "attach":
		if w.trial != nil {
			return reply{}, errors.New("attach comes once")
		}
		attached, err := attach(command)
		w.trial = attached
		return reply{Is: "attached", PID: os.Getpid(), Seats: attachedSeats(command.Seats)}, err
	case "clock":
		return reply{Is: "clock", Runtime: runtimeName, clockReading: readClock(command.CPU)}, nil
	case "run":
		if w.trial == nil {
			return reply{}, errors.New("run comes after attach")
		}
		ends, err := w.trial.run(command.Phase, command.Count, command.Stamp)
		return reply{Is: "ran", Ends: ends}, err
	case "stop":
		return reply{Is: "stopped"}, nil
	default:
		return reply{}, fmt.Errorf("there is no command `%s` here", command.Do)
	}
}

func attachedSeats(asked []seat) (attached []seat) {
	for _, one := range asked {
		attached = append(attached, seat{Role: one.Role})
	}
	return attached
}

func describe() *description {
	found := map[string]string{"go": strings.TrimPrefix(runtime.Version(), "go")}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			found[module.Path] = strings.TrimPrefix(module.Version, "v")
		}
	}
	collector := os.Getenv("GOGC")
	if collector == "" {
		collector = "100, the default"
	}
	answer := &description{
		Protocol: 3, Version: "0.1.0", Libraries: found,
		Remarks: []string{
			fmt.Sprintf("the garbage collector is on (GOGC %s); no loop of the worker allocates, but websocket's library does", collector),
			fmt.Sprintf("GOMAXPROCS is %d here; unless it is set it follows the CPUs that the process is confined to, one under same-cpu", runtime.GOMAXPROCS(0)),
			"every end is a goroutine that is not locked to a thread; descriptors do not block and are waited for by the runtime's poller (epoll)",
		},
	}
	for _, one := range mechanisms {
		answer.Mechanisms = append(answer.Mechanisms, describedMechanism{one.name, one.revision})
	}
	return answer
}

// speaking is held for good by the goroutine that reports the end of the trial.
var speaking sync.Mutex

func say(answer reply) {
	speaking.Lock()
	defer speaking.Unlock()
	write(answer)
}

// fail says in one line why the trial is over, and ends the process.
func fail(err error) {
	speaking.Lock()
	failed := reply{Is: "failed", Reason: strings.Join(strings.Fields(err.Error()), " ")}
	if errors.Is(err, errPeerClosed) {
		failed.Cause = partnerGone
	}
	write(failed)
	os.Exit(1)
}

func write(answer reply) {
	encoder := json.NewEncoder(os.Stdout)
	// The escaping is for HTML, and makes reasons hard to read.
	encoder.SetEscapeHTML(false)
	if encoder.Encode(answer) != nil {
		// Nobody listens any more.
		os.Exit(1)
	}
}

// failOnPanic makes a mistake in this program a failed trial with a reason.
func failOnPanic() {
	if mistake := recover(); mistake != nil {
		fail(fmt.Errorf("a mistake in the worker: %v", mistake))
	}
}
