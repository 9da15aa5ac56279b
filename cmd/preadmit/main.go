// Command preadmit tells what a cluster's API server will say to a change of a
// GitOps repository, without a cluster.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)  // a second signal ends the process at once
	program, _ := os.Executable() // "" is fine: see Process.Executable
	os.Exit(Main(ctx, os.Args[1:], Process{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Executable: program,
	}))
}
