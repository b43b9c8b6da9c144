// A ping-pong as one would write it in an afternoon: messages there and back over
// two pipes, between two processes on one CPU. The worker is compared with it.
//
//	pingpong CPU ROUND-TRIPS PAYLOAD    prints the median in nanoseconds
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"math/rand"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: pingpong CPU ROUND-TRIPS PAYLOAD")
	}
	cpu, count := must(strconv.Atoi(os.Args[1])), max(1, must(strconv.Atoi(os.Args[2])))
	messages := contents(max(1, must(strconv.Atoi(os.Args[3]))))
	switch os.Getenv("PINGPONG") {
	case "": // Affinity is a thread's: begin anew, so that all threads inherit it.
		runtime.LockOSThread()
		var one unix.CPUSet
		one.Set(cpu)
		must(0, unix.SchedSetaffinity(0, &one))
		must(0, syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), "PINGPONG=ping")))
	case "ping":
		child := exec.Command("/proc/self/exe", os.Args[1:]...)
		child.Env = append(os.Environ(), "PINGPONG=pong")
		child.Stderr = os.Stderr
		to, from := must(child.StdinPipe()), must(child.StdoutPipe())
		must(0, child.Start())
		ping(to, from, count, messages)
	default: // Without this the two would block a thread in read(2).
		must(0, unix.SetNonblock(0, true))
		must(0, unix.SetNonblock(1, true))
		pong(os.NewFile(0, "in"), os.NewFile(1, "out"), count, messages)
	}
}

// contents are as many different messages as in PROTOCOL.md, the same in both processes.
func contents(payload int) [][]byte {
	kinds := 256
	for kinds > 4 && kinds*payload > 16*1024 {
		kinds /= 2
	}
	messages, random := make([][]byte, kinds), rand.New(rand.NewSource(1))
	for i := range messages {
		messages[i] = make([]byte, payload)
		random.Read(messages[i])
	}
	return messages
}

func ping(to io.Writer, from io.Reader, count int, messages [][]byte) {
	samples := make([]time.Duration, count)
	reply := make([]byte, len(messages[0]))
	before := time.Now()
	for i := range samples {
		must(to.Write(messages[(2*i+1)%len(messages)]))
		receive(from, reply, messages[(2*i+2)%len(messages)])
		now := time.Now()
		samples[i], before = now.Sub(before), now
	}
	slices.Sort(samples)
	fmt.Println(samples[count/2].Nanoseconds())
}

func pong(from io.Reader, to io.Writer, count int, messages [][]byte) {
	request := make([]byte, len(messages[0]))
	for i := 0; i < count; i++ {
		receive(from, request, messages[(2*i+1)%len(messages)])
		must(to.Write(messages[(2*i+2)%len(messages)]))
	}
}

func receive(from io.Reader, message, want []byte) {
	must(io.ReadFull(from, message))
	if !bytes.Equal(message, want) {
		log.Fatal("a message is not what it has to be")
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal("pingpong: ", err)
	}
	return value
}
