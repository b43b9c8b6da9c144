package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test program is the worker where this is in its environment.
const asWorker = "HOPCOST_TEST_AS_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// says is what a worker answers to these lines, and how it exits.
func says(t *testing.T, lines string) (output string, status int) {
	t.Helper()
	worker := exec.Command("/proc/self/exe")
	worker.Env = append(os.Environ(), asWorker+"=1")
	worker.Stdin = strings.NewReader(lines)
	var stdout bytes.Buffer
	worker.Stdout = &stdout
	worker.Run()
	return stdout.String(), worker.ProcessState.ExitCode()
}

func TestItDescribesItselfAndStops(t *testing.T) {
	output, status := says(t, `{"do":"describe"}`+"\n"+`{"do":"clock","cpu":1}`+"\n"+`{"do":"stop"}`+"\n")
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if status != 0 || len(lines) != 3 || lines[2] != `{"is":"stopped"}` {
		t.Fatalf("%d %q", status, output)
	}
	var described description
	if err := json.Unmarshal([]byte(lines[0]), &described); err != nil {
		t.Fatal(err)
	}
	if described.Protocol != 3 || described.Runtime != "go" || described.Libraries["go"] == "" ||
		len(described.Mechanisms) != 13 {
		t.Errorf("%+v", described)
	}
	var clock struct {
		Is         string
		CPU        int
		StampP50NS float64 `json:"stamp_p50_ns"`
	}
	if err := json.Unmarshal([]byte(lines[1]), &clock); err != nil || clock.Is != "clock" || clock.CPU != 1 || clock.StampP50NS <= 0 {
		t.Errorf("%s", lines[1])
	}
}

func TestItFailsWithOneLineAndExits(t *testing.T) {
	attach := `{"do":"attach","case":"call/mutex-uncontended","seats":[{"role":"caller"}]}` + "\n"
	for _, lines := range []string{
		"nonsense\n",
		`{"do":"dance"}` + "\n",
		`{"do":"meet"}` + "\n",
		`{"do":"run","phase":"pilot","count":1,"stamp":{"kind":"each"}}` + "\n",
		`{"do":"attach","case":"roundtrip/pipe?payload=64","seats":[]}` + "\n",
		attach + attach,
	} {
		output, status := says(t, lines+`{"do":"describe"}`+"\n")
		replies := strings.Split(strings.TrimSpace(output), "\n")
		if status != 1 || !strings.HasPrefix(replies[len(replies)-1], `{"is":"failed","reason":"`) {
			t.Errorf("%q: %d %q", lines, status, output)
		}
	}
}

func TestTheDeadlineEndsItInTheMiddleOfALoop(t *testing.T) {
	worker := exec.Command("/proc/self/exe")
	worker.Env = append(os.Environ(), asWorker+"=1")
	input, err := worker.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := worker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	input.Write([]byte(`{"do":"attach","case":"call/mutex-uncontended","seats":[{"role":"caller"}]}` + "\n"))
	output.Read(make([]byte, 4096))
	input.Write([]byte(`{"do":"run","phase":"pilot","count":1000000000000000,"stamp":{"kind":"each"}}` + "\n"))
	// Whether it is in the loop by now or not, it has to end.
	time.Sleep(50 * time.Millisecond)
	worker.Process.Signal(syscall.SIGALRM)
	over := make(chan struct{})
	go func() { worker.Wait(); close(over) }()
	select {
	case <-over:
		if worker.ProcessState.ExitCode() == 0 {
			t.Error("it ended as if all was well")
		}
	case <-time.After(20 * time.Second):
		worker.Process.Kill()
		t.Error("SIGALRM does not end it")
	}
}
