package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// Program is the name of the server's program.
const Program = "preadmit-sandbox"

// stopTimeout is how long the server may take to stop before it is killed.
const stopTimeout = 10 * time.Second

// Find returns the file of the server's program: in the directory of this program, else on PATH. It ignores
// relative directories on PATH, since the work tree may have a program of that name.
func Find(p cli.Process) (string, error) {
	dirs := filepath.SplitList(p.Getenv("PATH"))
	if p.Executable != "" {
		dirs = append([]string{filepath.Dir(p.Executable)}, dirs...)
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, Program)
		if found, err := exec.LookPath(file); err == nil {
			return found, nil
		}
	}
	version := cli.Version()
	if !strings.HasPrefix(version, "v") {
		version = "latest"
	}
	return "", cli.Usagef("the server is a program of its own, %s, which is neither beside preadmit nor on PATH: install it with\n  go install github.com/preadmit/preadmit/cmd/%s@%s", Program, Program, version)
}

// Options configures a server.
type Options struct {
	// Program is the file of the server's program.
	Program string
	// Data is the directory in which to keep the data; if empty, the data is removed at the end.
	Data string
	// Port is the port on 127.0.0.1; 0 for any.
	Port int
}

// Server is a running server.
type Server struct {
	// Kubeconfig is the file of the kubeconfig for clients, with the rights of an administrator.
	Kubeconfig string

	dir    string
	config *rest.Config
	cmd    *exec.Cmd
	stdin  io.Closer
	ended  chan struct{}
}

// Start starts a server and waits until it serves.
func Start(ctx context.Context, o Options) (s *Server, err error) {
	s = &Server{ended: make(chan struct{})}
	started := s
	if s.dir, err = os.MkdirTemp("", "preadmit-sandbox-*"); err != nil { // of mode 0700
		return nil, fmt.Errorf("make a directory for the server: %w", err)
	}
	defer func() {
		if err != nil {
			started.Stop()
		}
	}()
	data, err := s.data(o.Data)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(s.Log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close()
	s.Kubeconfig = filepath.Join(s.dir, "kubeconfig")
	s.cmd = exec.Command(o.Program, "--run", s.dir, "--data", data, "--port", strconv.Itoa(o.Port), "--keep="+strconv.FormatBool(o.Data != ""))
	s.cmd.Stderr = log
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return nil, fmt.Errorf("start the server: %w", err)
	}
	if err := s.await(ctx, stdout); err != nil {
		return nil, err
	}
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.Kubeconfig); err != nil {
		return nil, fmt.Errorf("read the server's kubeconfig: %w", err)
	}
	return s, nil
}

// data creates the directory of the data and returns it. Only its owner may have access, as it contains
// Secrets in clear text.
func (s *Server) data(kept string) (string, error) {
	dir := filepath.Join(s.dir, "data")
	if kept != "" {
		absolute, err := filepath.Abs(kept)
		if err != nil {
			return "", fmt.Errorf("--data-dir: %w", err)
		}
		dir = absolute
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", cli.Usagef("--data-dir: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", cli.Usagef("--data-dir: %w", err)
	}
	if others := info.Mode().Perm() & 0o077; others != 0 && runtime.GOOS != "windows" {
		return "", cli.Usagef("--data-dir: %s has mode %04o, and is to hold Secrets in clear text: let nobody else in, with chmod 700", dir, info.Mode().Perm())
	}
	return dir, nil
}

// Log returns the file of the server's log.
func (s *Server) Log() string { return filepath.Join(s.dir, "server.log") }

// await waits until the server reports that it is ready.
func (s *Server) await(ctx context.Context, stdout io.Reader) error {
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		said <- strings.TrimSpace(line)
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	select {
	case line := <-said:
		if line == "ready" {
			return nil
		}
		<-s.ended
		return fmt.Errorf("the server did not start: %s", s.why())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// why returns the reason why the server ended: its last error message in the log.
func (s *Server) why() string {
	data, err := os.ReadFile(s.Log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if why, ok := strings.CutPrefix(lines[i], Program+": "); ok {
			if strings.Contains(why, "address already in use") {
				why += ": give another port with --port, or none for any that is free"
			}
			return why
		}
	}
	return lines[len(lines)-1]
}

// Ended returns a channel that is closed when the server has ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Err returns the reason why the server ended without Stop.
func (s *Server) Err() error { return errors.New("the server ended: " + s.why()) }

// Stop ends the server and removes its files, except the data in Options.Data.
func (s *Server) Stop() {
	if s.cmd != nil {
		_ = s.stdin.Close()
		select {
		case <-s.ended:
		case <-time.After(stopTimeout):
			_ = s.cmd.Process.Kill()
			<-s.ended
		}
	}
	_ = os.RemoveAll(s.dir)
}
