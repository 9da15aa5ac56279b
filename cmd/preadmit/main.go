// Command preadmit tells what a cluster's API server will say to a change of a
// GitOps repository, without a cluster.
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
)

// grace is how long an interrupted run may take to end by itself.
const grace = 2 * time.Second

func main() {
	collectLater(os.Getenv)
	var lasting atomic.Bool
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once
		// Kustomize cannot be interrupted; do not wait for it forever.
		time.AfterFunc(grace, func() {
			if !lasting.Load() {
				os.Exit(exitIncomplete)
			}
		})
	})
	p := Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Environ: os.Environ(), Lasting: func() { lasting.Store(true) }}
	p.Executable, _ = os.Executable() // "" is fine, see there
	// Kustomize warns there, and in the log, of deprecated fields and unused vars, once
	// for every render of every root, in the middle of what we say. Crashes do not go
	// through it.
	os.Stderr, _ = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	log.SetOutput(io.Discard)
	os.Exit(Main(ctx, os.Args[1:], p))
}
