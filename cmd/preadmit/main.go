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

	// If the system has no certificates of authorities, as in the image, the certificates of
	// Mozilla at the time of the build are used.
	_ "golang.org/x/crypto/x509roots/fallback"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/heap"
)

// exitSignal plus the number of a signal is the exit code of a process that the signal ends,
// as in a shell.
const exitSignal = 128

// grace is the time that an interrupted run has to end by itself.
const grace = 2 * time.Second

func main() {
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
	p.Executable, _ = os.Executable() // "" is fine, see there
	// Kustomize writes warnings there, and to the log, about deprecated fields and unused
	// vars, once for every render of every root, in the middle of our output. Crashes are
	// not written there.
	os.Stderr, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	log.SetOutput(io.Discard)
	os.Exit(Main(ctx, os.Args[1:], p))
}
