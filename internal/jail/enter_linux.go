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
	// resultsFD is the file descriptor for results.
	resultsFD = 3
	// outside is in the environment of a program that Command.Start started, and inside in that of
	// the program after it was executed again in its jail.
	outside = "PROCESS_IN_JAIL=0"
	inside  = "PROCESS_IN_JAIL=1"
	// entered is the first line of results, written by Enter.
	entered = "in jail\n"
	// maxSpec is the maximum size of a spec, in bytes.
	maxSpec = 1 << 20
	// self is the program's own file, even if its path was replaced meanwhile.
	self = "/proc/self/exe"
)

// spec describes the jail. It is the first line of the program's input.
type spec struct {
	Read       []string
	Env        []string
	BestEffort bool
	Memory     int64 // bytes
	CPU        int64 // seconds
	Parent     int   // the PID of the caller of Command.Start
}

// init builds the jail of a program that Command.Start started. It is an init function, since
// initialising the packages of Kubernetes, most of which come later, takes longer than many a scan,
// and would be done twice.
func init() {
	if slices.Contains(os.Environ(), outside) {
		_, _ = fmt.Fprintln(os.Stderr, build(os.Stderr))
		os.Exit(1)
	}
}

// Enter returns the file for the results of a program in the jail that Command.Start prepared.
// Standard input continues with Command.Input.
func Enter() (*os.File, error) {
	if !slices.Contains(os.Environ(), inside) {
		return nil, errors.New("enter the jail: another program has to start this one in a jail")
	}
	// This also keeps other processes of this user from reading the memory.
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

// build builds the jail around this process and executes the program in it, with the same arguments.
// All restrictions but resource limits apply to a thread, and execve leaves only this one. With
// Command.BestEffort, errors are written to log.
func build(log io.Writer) error {
	spec, err := readSpec(os.Stdin)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // never unlocked
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

// endWithParent makes the kernel kill this process when its parent ends. Command.Start has done so too,
// but the parent may have ended before it took effect.
func endWithParent(parent int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("end with the parent: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("end with the parent: it has ended")
	}
	return nil
}

// readSpec reads a line, and nothing of the following input.
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

// accessible returns the files of a jail: those to read, and those needed to execute the
// program.
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

// libraries returns the files that a dynamically linked program needs to start, as currently
// mapped. A static program needs none.
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

// closeOnExec makes execve close all open files from a descriptor on.
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
