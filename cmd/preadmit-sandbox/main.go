// Command preadmit-sandbox is the API server that `preadmit sandbox` starts: a kube-apiserver
// with etcd in one process, on loopback. It is a separate program to keep preadmit small, which
// judges without a server.
//
// Flags configure it. It prints "ready" on standard output when it serves, and ends when its
// standard input ends, so that it does not outlive its parent process. It logs to standard error.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/preadmit/preadmit/internal/apiserver"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "preadmit-sandbox: %v\n", err)
		os.Exit(1)
	}
}

// run runs the server until stdin ends.
func run(args []string, stdin io.Reader, stdout io.Writer) error {
	// The parent process has the same terminal, and decides when to end.
	signal.Ignore(os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	o := apiserver.Options{Now: time.Now(), Version: kubernetes()}
	flags := flag.NewFlagSet("preadmit-sandbox", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "This is the server of `preadmit sandbox`, which starts it: run that instead.")
		flags.PrintDefaults()
	}
	flags.StringVar(&o.Run, "run", "", "`DIR` of the kubeconfig, certificates and sockets, removed at the end; nobody else may enter it")
	flags.StringVar(&o.Data, "data", "", "`DIR` of the data")
	flags.BoolVar(&o.Keep, "keep", false, "write the data so that it survives the machine")
	flags.IntVar(&o.Port, "port", 0, "`PORT` on 127.0.0.1; 0 for any")
	version := flags.Bool("version", false, "print the version of Kubernetes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *version:
		_, err := fmt.Fprintln(stdout, o.Version)
		return err
	case o.Run == "" || o.Data == "":
		flags.Usage()
		return fmt.Errorf("--run and --data are needed")
	}
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		stop()
	}()
	return serve(ctx, o, stdout)
}

// serve runs the server until ctx ends.
func serve(ctx context.Context, o apiserver.Options, stdout io.Writer) error {
	defer func() {
		if ctx.Err() != nil { // otherwise the parent process still runs, reads the log, and removes the directory
			_ = os.RemoveAll(o.Run)
		}
	}()
	server, err := apiserver.Start(ctx, o)
	if err != nil {
		return err
	}
	defer server.Stop()
	access, err := server.Kubeconfig()
	if err != nil {
		return err
	}
	if err := clientcmd.WriteToFile(*access, filepath.Join(o.Run, "kubeconfig")); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, "ready"); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Ended():
		return fmt.Errorf("kube-apiserver ended: %w", err)
	}
}

// kubernetes returns the release that the program is built with.
func kubernetes() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, dep := range info.Deps {
			if dep.Path == "k8s.io/kubernetes" {
				return dep.Version
			}
		}
	}
	return "v0.0.0"
}
