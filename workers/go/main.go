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

func main() {
	defer failOnPanic()
	go endOnAlarm()
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
	<-alarms
	fmt.Fprintln(os.Stderr, "go worker: the deadline came (SIGALRM)")
	os.Exit(128 + int(syscall.SIGALRM))
}

type worker struct {
	trial *trial
}

// obey does what a command says.
func (w *worker) obey(command *command) (reply, error) {
	switch command.Do {
	case "describe":
		return describe(), nil
	case "attach":
		attached, err := attach(command)
		w.trial = attached
		var seats []reply
		for _, asked := range command.Seats {
			// A goroutine has no thread of its own.
			seats = append(seats, reply{"role": asked.Role, "tid": 0})
		}
		return reply{"is": "attached", "pid": os.Getpid(), "seats": seats}, err
	case "clock":
		return readClock(command.CPU), nil
	case "run":
		if w.trial == nil {
			return nil, errors.New("run comes after attach")
		}
		ends, err := w.trial.run(command.Phase, command.Count, command.Stamp)
		return reply{"is": "ran", "ends": ends}, err
	case "stop":
		return reply{"is": "stopped"}, nil
	default:
		return nil, fmt.Errorf("there is no command `%s` here", command.Do)
	}
}

func describe() reply {
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
	var described []reply
	for _, one := range mechanisms {
		described = append(described, reply{"name": one.name, "revision": one.revision})
	}
	return reply{
		"is": "described", "protocol": 3, "runtime": "go", "version": "0.1.0", "libraries": found,
		"remarks": []string{
			fmt.Sprintf("the garbage collector is on (GOGC %s); no loop of the worker allocates, but websocket's library does", collector),
			fmt.Sprintf("GOMAXPROCS is %d here; unless it is set it follows the CPUs that the process is confined to, one under same-cpu", runtime.GOMAXPROCS(0)),
			"every end is a goroutine that is not locked to a thread; descriptors do not block and are waited for by the runtime's poller (epoll)",
		},
		"mechanisms": described,
	}
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
	failed := reply{"is": "failed", "reason": strings.Join(strings.Fields(err.Error()), " ")}
	if errors.Is(err, errPeerClosed) {
		failed["cause"] = "partner-gone"
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
