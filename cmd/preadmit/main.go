package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	// Mozilla's root certificates at build time, used if the system has none, as in the image.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/heap"
	"github.com/preadmit/preadmit/internal/resident"
)

// exitSignal plus the number of a signal is the exit code after that signal, as in a shell.
const exitSignal = 128

// grace is how long an interrupted run may take to end by itself.
const grace = 2 * time.Second

func main() {
	resident.Release() // of the initialisation of packages
	var lasting atomic.Bool
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		// Kustomize cannot be interrupted; do not wait for it forever.
		time.AfterFunc(grace, func() {
			if !lasting.Load() {
				os.Exit(cli.ExitIncomplete)
			}
		})
		if again, ok := (<-signals).(syscall.Signal); ok { // the process ends at once
			os.Exit(exitSignal + int(again))
		}
	}()
	p := cli.Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Environ: os.Environ(), Own: true, Lasting: func() { lasting.Store(true); heap.Lasting() }}
	p.Executable, _ = os.Executable() // may be "", see Process.Executable
	// Kustomize writes warnings about deprecated fields and unused vars to os.Stderr and the
	// log, once per render of each root, in the middle of our output. The runtime does not
	// write crashes there.
	os.Stderr, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	log.SetOutput(io.Discard)
	os.Exit(Main(ctx, os.Args[1:], p))
}
