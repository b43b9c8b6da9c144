package protocol

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestCommandsAreReadAsDocumented(t *testing.T) {
	reader := NewReader(strings.NewReader(
		`{"do":"attach","case":"roundtrip/pipe?payload=64","seats":[{"role":"caller","cpu":1,"link":{"fds":[4,5],"names":[]}}],"samples_fd":3,"deadline_ms":1,"unknown":{"x":1}}` + "\n" +
			`{"do":"run","phase":"measure","count":9,"stamp":{"kind":"two-lengths","n":3}}` + "\n"))
	attach, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	if attach.Do != "attach" || *attach.SamplesFD != 3 || attach.Seats[0].Link.FDs[1] != 5 {
		t.Errorf("%+v", attach)
	}
	run, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	if run.Phase != "measure" || run.Count != 9 || run.Stamp != (Stamp{"two-lengths", 3}) {
		t.Errorf("%+v", run)
	}
	if _, err := reader.Next(); err != io.EOF {
		t.Error(err)
	}
}

func TestBadLinesAreErrors(t *testing.T) {
	for _, line := range []string{"nonsense", `{"do":7}`, "[]", `{"do":"run","count":-1}`, "", strings.Repeat("x", LineMax+1)} {
		_, err := NewReader(strings.NewReader(line + "\n")).Next()
		if err == nil || err == io.EOF || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q: %v", line, err)
		}
	}
}

func TestRepliesAreOneLine(t *testing.T) {
	var output bytes.Buffer
	if err := Write(&output, Failed{Is: "failed", Reason: "a < b & c"}); err != nil {
		t.Fatal(err)
	}
	if got := output.String(); got != `{"is":"failed","reason":"a < b & c"}`+"\n" {
		t.Error(got)
	}
}

func TestCases(t *testing.T) {
	parsed, err := ParseCase("roundtrip/tcp?payload=64&boundary=process&runtime=go:rust&nodelay=off")
	if err != nil {
		t.Fatal(err)
	}
	payload, err := parsed.Payload()
	if err != nil || payload != 64 || parsed.Workload != "roundtrip" || parsed.Mechanism != "tcp" ||
		parsed.Value("nodelay") != "off" || parsed.Value("boundary") != "process" {
		t.Errorf("%+v %v", parsed, err)
	}
	if bare, err := ParseCase("call/mutex-uncontended"); err != nil || bare.Mechanism != "mutex-uncontended" {
		t.Errorf("%+v %v", bare, err)
	}
	for _, wrong := range []string{"", "pipe", "/", "call/", "call/x?y"} {
		if _, err := ParseCase(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	for _, wrong := range []string{"-1", "x", "99999999999", ""} {
		parsed, err := ParseCase("call/x?payload=" + wrong)
		if err == nil {
			_, err = parsed.Payload()
		}
		if err == nil {
			t.Errorf("a payload of %q is taken", wrong)
		}
	}
}
