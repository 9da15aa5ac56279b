package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// kubeconfigVariable is the environment variable with the kubeconfig for clients.
const kubeconfigVariable = "KUBECONFIG"

// CheckProgram checks that the program of a command exists, so that a mistake is reported before
// anything is started.
func CheckProgram(name string) error {
	if strings.ContainsRune(name, os.PathSeparator) {
		if _, err := exec.LookPath(name); err != nil {
			return cli.Usagef("there is no program %s: check the name", name)
		}
		return nil
	}
	if _, err := exec.LookPath(name); err != nil {
		if name == "kubectl" {
			return cli.Usagef("there is no kubectl on PATH: install it (https://kubernetes.io/docs/tasks/tools/), or leave the command out and use KUBECONFIG with another client")
		}
		return cli.Usagef("there is no program %s on PATH: check the name", name)
	}
	return nil
}

// Run runs a command with the server's kubeconfig, and returns a *cli.CommandError with its exit code
// unless that is 0. It ends the command when ctx ends.
func (s *Server) Run(ctx context.Context, p cli.Process, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	for _, variable := range p.Environ {
		if !strings.HasPrefix(variable, kubeconfigVariable+"=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, kubeconfigVariable+"="+s.Kubeconfig)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	err := cmd.Run()
	exit := new(exec.ExitError)
	switch {
	case ctx.Err() != nil:
		return context.Canceled
	case errors.As(err, &exit):
		return &cli.CommandError{Code: exitCode(exit)}
	case err != nil:
		return cli.Usagef("%w", err)
	}
	return nil
}

// exitSignal plus the number of a signal is the exit code of a command that the signal ended, as in
// a shell.
const exitSignal = 128

func exitCode(exit *exec.ExitError) int {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal())
	}
	return exit.ExitCode()
}
