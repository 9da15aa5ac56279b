package jail

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// resultsFD is the file descriptor that results are written to.
	resultsFD = 3
	// outside is in the environment of a program that Command.Start started, and inside in that of one
	// that was executed in its jail.
	outside = "PROCESS_IN_JAIL=0"
	inside  = "PROCESS_IN_JAIL=1"
	// entered is the first line of results, written by Enter.
	entered = "in jail\n"
	// maxSpec is the largest spec, in bytes.
	maxSpec = 1 << 20
	// self is the program's own file, even when it was replaced meanwhile.
	self = "/proc/self/exe"
)

// spec describes its jail to a program, in the first line of its input.
type spec struct {
	Read       []string
	Env        []string
	BestEffort bool
	Memory     int64 // bytes
	CPU        int64 // seconds
	Parent     int   // the number of the process that called Command.Start
}

// init builds the jail of a program that Command.Start started. It is an init because the packages of
// Kubernetes, most of which come later, take longer to initialise than many a scan takes, and would be
// initialised twice.
func init() {
	if slices.Contains(os.Environ(), outside) {
		_, _ = fmt.Fprintln(os.Stderr, build(os.Stderr))
		os.Exit(1)
	}
}

// Enter returns the file to write results to of a program in the jail that Command.Start prepared;
// standard input goes on with Command.Input.
func Enter() (*os.File, error) {
	if !slices.Contains(os.Environ(), inside) {
		return nil, errors.New("enter the jail: another program has to start this one in a jail")
	}
	// Other processes of this user may not read the memory either.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("enter the jail: hide the memory: %w", err)
	}
	unix.CloseOnExec(resultsFD)
	results := os.NewFile(resultsFD, "results")
	if _, err := io.WriteString(results, entered); err != nil {
		return nil, fmt.Errorf("enter the jail: %w", err)
	}
	return results, nil
}

// build builds the jail around this process and executes the program in it, with the same arguments. All
// but resource limits belongs to a thread, which execve makes the only one. What is missing where
// Command.BestEffort continues is written to log.
func build(log io.Writer) error {
	spec, err := readSpec(os.Stdin)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // for good
	pid := os.Getpid()
	files, err := accessible(spec.Read)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return endWithParent(spec.Parent) },
		func() error { return preferToBeKilled() },
		func() error { return limitResources(spec) },
		func() error { return closeOnExec(resultsFD + 1) },
		func() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) },
		dropCapabilities,
		func() error { return restrictFiles(files) },
		func() error { return filterCalls(pid) },
	} {
		if err := step(); err != nil {
			if !spec.BestEffort {
				return err
			}
			_, _ = fmt.Fprintf(log, "%v\n", err)
		}
	}
	err = unix.Exec(self, os.Args, append(spec.Env, inside))
	return fmt.Errorf("execute the program in its jail: %w", err)
}

// endWithParent lets the kernel kill this process when its parent ends. Command.Start did so too, but
// the parent may have ended before it did.
func endWithParent(parent int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("end with the parent: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("end with the parent: it has ended")
	}
	return nil
}

// readSpec reads a line and nothing behind it, which is for later.
func readSpec(from io.Reader) (*spec, error) {
	var line []byte
	for c := make([]byte, 1); len(line) < maxSpec; line = append(line, c[0]) {
		if _, err := io.ReadFull(from, c); err != nil {
			return nil, fmt.Errorf("read what the jail is like: %w", err)
		}
		if c[0] == '\n' {
			break
		}
	}
	s := &spec{}
	if err := json.Unmarshal(line, s); err != nil {
		return nil, fmt.Errorf("read what the jail is like: %w", err)
	}
	return s, nil
}

// accessible are the files of a jail: those to read, and what executing the program
// takes.
func accessible(read []string) ([]access, error) {
	files := []access{{path: self, rights: executable}, {path: os.DevNull, rights: writable}}
	for _, path := range read {
		files = append(files, access{path: path, rights: readable})
	}
	libraries, err := libraries()
	if err != nil {
		return nil, err
	}
	return append(files, libraries...), nil
}

// libraries are the files that a dynamically linked program takes to start: what is
// mapped of them now. A static program has none.
func libraries() ([]access, error) {
	program, err := elf.Open(self)
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	defer program.Close()
	if !slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		return nil, nil
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, fmt.Errorf("read what libraries the program has: %w", err)
	}
	files := []access{{path: "/etc/ld.so.cache", rights: readable, optional: true}}
	for line := range bytes.Lines(maps) {
		fields := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 6)
		if len(fields) < 6 || !strings.Contains(fields[1], "x") {
			continue
		}
		if path := strings.TrimLeft(fields[5], " "); strings.HasPrefix(path, "/") {
			files = append(files, access{path: path, rights: executable, optional: true})
		}
	}
	return files, nil
}

// closeOnExec closes files that were left open when the program is executed.
func closeOnExec(from uint) error {
	err := unix.CloseRange(from, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			return fmt.Errorf("close files: %w", err)
		}
		for fd := uint64(from); fd < limit.Cur; fd++ {
			unix.CloseOnExec(int(fd))
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("close files: %w", err)
	}
	return nil
}
