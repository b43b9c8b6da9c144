// A ping-pong as one would write it in an afternoon: 64 bytes there and back over
// two pipes, between two processes on one CPU. The worker is compared with it.
//
//	pingpong CPU ROUND-TRIPS    prints the median in nanoseconds
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
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
	if len(os.Args) != 3 {
		log.Fatal("usage: pingpong CPU ROUND-TRIPS")
	}
	cpu, count := must(strconv.Atoi(os.Args[1])), max(1, must(strconv.Atoi(os.Args[2])))
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
		ping(to, from, count)
	default: // Without this the two would block a thread in read(2).
		must(0, unix.SetNonblock(0, true))
		must(0, unix.SetNonblock(1, true))
		pong(os.NewFile(0, "in"), os.NewFile(1, "out"), count)
	}
}

func ping(to io.Writer, from io.Reader, count int) {
	message, reply := bytes.Repeat([]byte("hopcost!"), 8), make([]byte, 64)
	samples := make([]time.Duration, count)
	for i := range samples {
		message[0] = byte(i)
		start := time.Now()
		must(to.Write(message))
		must(io.ReadFull(from, reply))
		samples[i] = time.Since(start)
		if !bytes.Equal(message, reply) {
			log.Fatalf("round trip %d came back changed", i)
		}
	}
	slices.Sort(samples)
	fmt.Println(samples[count/2].Nanoseconds())
}

func pong(from io.Reader, to io.Writer, count int) {
	message := make([]byte, 64)
	for i := 0; i < count; i++ {
		must(io.ReadFull(from, message))
		must(to.Write(message))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal("pingpong: ", err)
	}
	return value
}
