// The worker of hopcost for Go: plays ends of trials as workers/PROTOCOL.md says.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"hopcost-go-worker/internal/clock"
	"hopcost-go-worker/internal/mechanism"
	"hopcost-go-worker/internal/protocol"
	"hopcost-go-worker/internal/trial"
)

func main() {
	defer failOnPanic()
	endOnAlarm()
	commands := protocol.NewReader(os.Stdin)
	worker := new(worker)
	for {
		command, err := commands.Next()
		if err == io.EOF {
			return
		}
		if err == nil {
			err = worker.obey(command)
		}
		if err != nil {
			fail(err)
		}
		if command.Do == "stop" {
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
	trial *trial.Trial
}

// obey does what a command says, and replies.
func (w *worker) obey(command *protocol.Command) error {
	switch command.Do {
	case "describe":
		return reply(describe())
	case "attach":
		return w.attach(command)
	case "clock":
		return reply(readClock(command.CPU))
	case "run":
		if w.trial == nil {
			return errors.New("run comes after attach")
		}
		ends, err := w.trial.Run(command.Phase, command.Count, command.Stamp)
		if err != nil {
			return err
		}
		return reply(protocol.Ran{Is: "ran", Ends: ends})
	case "stop":
		return reply(protocol.Stopped{Is: "stopped"})
	default:
		return fmt.Errorf("there is no command `%s` here", command.Do)
	}
}

func (w *worker) attach(command *protocol.Command) error {
	if w.trial != nil {
		return errors.New("attach comes once")
	}
	attached, err := trial.Attach(command, fail)
	if err != nil {
		return err
	}
	w.trial = attached
	answer := protocol.Attached{Is: "attached", PID: os.Getpid()}
	for _, role := range attached.Roles() {
		answer.Seats = append(answer.Seats, protocol.AttachedSeat{Role: role})
	}
	return reply(answer)
}

func readClock(cpu int) protocol.ClockReading {
	cost := clock.MeasureCost()
	return protocol.ClockReading{
		Is: "clock", CPU: cpu, Runtime: runtimeName,
		Source: clock.Source, TicksPerSecond: clock.TicksPerSecond, ResolutionTicks: cost.Resolution,
		StampMinNS: cost.Min, StampP50NS: cost.P50, StampP99NS: cost.P99,
	}
}

// speaking is held for good by whoever says that the trial is over.
var speaking sync.Mutex

func reply(answer any) error {
	speaking.Lock()
	defer speaking.Unlock()
	return protocol.Write(os.Stdout, answer)
}

// fail says in one line why the trial is over, and ends the process.
func fail(err error) {
	speaking.Lock()
	failed := protocol.Failed{Is: "failed", Reason: strings.Join(strings.Fields(err.Error()), " ")}
	if errors.Is(err, mechanism.ErrPeerClosed) {
		failed.Cause = protocol.PartnerGone
	}
	_ = protocol.Write(os.Stdout, failed)
	os.Exit(1)
}

// failOnPanic makes a mistake in this program a failed trial with a reason.
func failOnPanic() {
	if mistake := recover(); mistake != nil {
		fail(fmt.Errorf("a mistake in the worker: %v", mistake))
	}
}
