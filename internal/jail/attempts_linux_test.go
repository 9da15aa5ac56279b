package jail

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempt is something that a program may attempt in its jail, with an argument. It returns
// nil when it succeeded.
type attempt func(argument string) error

// attempts returns all attempts of the tests.
func attempts() map[string]attempt {
	return map[string]attempt{
		"read":              readFile,
		"list":              func(dir string) error { _, err := os.ReadDir(dir); return err },
		"write":             func(file string) error { return openTo(file, os.O_WRONLY|os.O_CREATE) },
		"overwrite by name": func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"overwrite":         func(file string) error { return openTo(file, os.O_WRONLY) },
		"truncate":          func(file string) error { return unix.Truncate(file, 0) },
		"truncate by open":  func(file string) error { return openTo(file, os.O_RDONLY|os.O_TRUNC) },
		"chmod":             func(file string) error { return os.Chmod(file, 0o777) },
		"set times":         func(file string) error { return os.Chtimes(file, time.Now(), time.Now()) },
		"rename":            func(file string) error { return os.Rename(file, file+".new") },
		"remove":            os.Remove,
		"discard":           func(string) error { return openTo(os.DevNull, os.O_WRONLY) },
		"tcp":               func(at string) error { return dial("tcp", at) },
		"udp":               func(at string) error { return dial("udp", at) },
		"unix":              func(at string) error { return dial("unix", at) },
		"listen":            func(string) error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"socket pair":       func(string) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"netlink":           func(string) error { _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0); return err },
		"run":               func(program string) error { return exec.Command(program, "-c", "true").Run() },
		"run itself":        runItself,
		"run from memory":   func(string) error { _, err := unix.MemfdCreate("x", 0); return err },
		"ptrace":            onProcess(func(pid int) error { return unix.PtraceAttach(pid) }),
		"read memory":       onProcess(readMemory),
		"signal":            onProcess(func(pid int) error { return unix.Kill(pid, 0) }),
		"signal a thread":   onProcess(func(pid int) error { return unix.Tgkill(pid, pid, unix.SIGTERM) }),
		"signal by file":    onProcess(func(pid int) error { _, err := unix.PidfdOpen(pid, 0); return err }),
		"own a file":        ownFile,
		"signal itself":     func(string) error { return unix.Kill(os.Getpid(), 0) },
		"leave the session": func(string) error { _, err := unix.Setsid(); return err },
		"leave the group":   func(string) error { return unix.Setpgid(0, 0) },
		"new namespace":     func(string) error { return unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_NEWNET) },
		"clone namespace":   cloneNamespace,
		"mount":             func(dir string) error { return unix.Mount("none", dir, "tmpfs", 0, "") },
		"change root":       unix.Chroot,
		"io_uring":          func(string) error { return call(unix.SYS_IO_URING_SETUP, 1) },
		"bpf":               func(string) error { return call(unix.SYS_BPF, 0) },
		"keyring":           func(string) error { return call(unix.SYS_KEYCTL, 0) },
		"performance":       func(string) error { return call(unix.SYS_PERF_EVENT_OPEN, 0) },
		"shared memory":     func(string) error { return call(unix.SYS_SHMGET, 0) },
		"share memory":      func(string) error { return share(-1, unix.MAP_ANONYMOUS) },
		"share a file":      shareFile,
		"lock a part":       lockPart,
		"unknown call":      func(string) error { return call(unix.SYS_RSEQ_SLICE_YIELD+1, 0) },
		"other convention":  func(string) error { return call(0x40000000|unix.SYS_GETPID, 0) },
		"raise limits":      raiseLimits,
		"capabilities":      capabilities,
		"environment":       func(string) error { return fmt.Errorf("%q", os.Environ()) },
		"open files":        openFilesLeft,
		"dump core":         dumpable,
		"new threads":       newThreads,
		"take memory":       takeMemory,
		"take it in peace":  func(string) error { return takeMemoryOf(200 << 20) },
		"take page tables":  takePageTables,
		"spin":              func(string) error { spin(); return nil },
		"spin in children":  spinInChildren,
		"print":             func(string) error { return print(os.Stdout) },
		"ignore the end":    func(string) error { time.Sleep(time.Hour); return nil },
	}
}

func readFile(file string) error {
	_, err := os.ReadFile(file)
	return err
}

func dial(network, at string) error {
	c, err := net.DialTimeout(network, at, time.Second)
	if err == nil {
		_, err = c.Write([]byte("reached\n"))
	}
	return err
}

func openTo(file string, flags int) error {
	f, err := os.OpenFile(file, flags, 0o600)
	if err == nil {
		err = f.Close()
	}
	return err
}

// spinInChildren leaves processes behind that keep the streams open.
func spinInChildren(string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	for range 3 {
		cmd := exec.Command(program, "spin")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return err
		}
	}
	return nil
}

// runItself executes the program's own file, with no known arguments.
func runItself(string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return exec.Command(program, "-test.run=^$").Run()
}

func onProcess(do func(pid int) error) attempt {
	return func(argument string) error {
		pid, err := strconv.Atoi(argument)
		if err != nil {
			return err
		}
		return do(pid)
	}
}

func readMemory(pid int) error {
	var word [8]byte
	local := []unix.Iovec{{Base: &word[0], Len: 8}}
	_, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&word[0])), Len: 8}}, 0)
	return err
}

// ownFile makes the kernel send signals to a process when a file becomes readable.
func ownFile(argument string) error {
	pid, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(0, unix.F_SETOWN, pid)
	return err
}

// share maps memory that could be shared with others.
func share(fd, flags int) error {
	_, err := unix.Mmap(fd, 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED|flags)
	return err
}

func shareFile(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return share(int(f.Fd()), 0)
}

// lockPart locks a byte of a file, which uses kernel memory.
func lockPart(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Len: 1})
}

func cloneNamespace(string) error {
	cmd := exec.Command(self)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	return cmd.Start()
}

func call(number, argument uintptr) error {
	if _, _, errno := unix.Syscall(number, argument, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func raiseLimits(string) error {
	for _, resource := range []int{unix.RLIMIT_CPU, unix.RLIMIT_DATA, unix.RLIMIT_NOFILE, unix.RLIMIT_CORE, unix.RLIMIT_FSIZE} {
		unlimited := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(0, resource, &unlimited, nil); err == nil {
			return nil
		}
	}
	return errors.New("none could be raised")
}

// capabilities returns an error if the process has none.
func capabilities(string) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&header, &has[0]); err != nil {
		return err
	}
	if has != [2]unix.CapUserData{} {
		return nil
	}
	return errors.New("has none")
}

// openFilesLeft returns an error if no file is open except the three streams, results, and those of
// the Go runtime.
func openFilesLeft(argument string) error {
	inherited, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(uintptr(inherited), unix.F_GETFD, 0)
	return err
}

// dumpable returns an error if other processes may not read the memory.
func dumpable(string) error {
	may, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_GET_DUMPABLE, 0, 0)
	if errno == 0 && may == 0 {
		return errors.New("is not dumpable")
	}
	return nil
}

// newThreads runs an attempt on many threads, not all of which existed when the jail was built.
func newThreads(at string) error {
	const threads = 30
	worked := make(chan error, threads)
	for range threads {
		go func() {
			runtime.LockOSThread()
			worked <- errors.Join(dial("tcp", at), readFile("/etc/passwd"))
		}()
	}
	var refused []string
	for range threads {
		err := <-worked
		if err == nil || len(strings.Split(err.Error(), "\n")) != 2 {
			return nil
		}
		refused = append(refused, err.Error())
	}
	return errors.New(refused[0])
}

func takeMemory(string) error { return takeMemoryOf(1 << 40) }

// takeMemoryOf uses a number of bytes.
func takeMemoryOf(bytes int) error {
	var taken [][]byte
	for sum := 0; sum < bytes; sum += 32 << 20 {
		block := make([]byte, 32<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		taken = append(taken, block)
	}
	runtime.KeepAlive(taken)
	return nil
}

// takePageTables reads so much empty memory, a page here and there, that 512 MiB of page tables
// refer to the one zero page behind it.
func takePageTables(string) error {
	const size, step = 256 << 30, 2 << 20
	empty, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	if err := unix.Madvise(empty, unix.MADV_NOHUGEPAGE); err != nil {
		return err
	}
	for i := 0; i < size; i += step {
		if empty[i] != 0 {
			return errors.New("empty memory is not empty")
		}
	}
	time.Sleep(time.Second) // until it was measured
	return unix.Munmap(empty)
}

func spin() {
	for i := 0; ; i++ {
		if i < 0 {
			fmt.Fprintln(os.Stderr, i)
		}
	}
}

func print(to *os.File) error {
	line := []byte(strings.Repeat("\x1b[31m::error::x\n", 1000))
	for {
		if _, err := to.Write(line); err != nil {
			return err
		}
	}
}
