package jail

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data.
const (
	callOffset = 0
	archOffset = 4
	argsOffset = 16
)

// condition compares the lower 32 bits of an argument of a system call. The kernel reads only
// these of the arguments compared here.
type condition struct {
	arg   uint32
	test  bpf.JumpTest
	value uint32
}

// rule allows a system call if one of its conditions is true.
type rule struct {
	call uint32
	when []condition
}

// filter returns a BPF program that allows the system calls that the Go runtime and a scan need, and
// rejects all others with EPERM. pid is the process in the jail.
func filter(pid int) []bpf.Instruction {
	refuse := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	unknown := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: archOffset, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS},
		bpf.LoadAbsolute{Off: callOffset, Size: 4},
		// System calls newer than this list, and other calling conventions of the same
		// processor, are unknown.
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: unix.SYS_RSEQ_SLICE_YIELD, SkipFalse: 1},
		unknown,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1}, // the filter cannot read its flags
		unknown,
	}
	for _, call := range slices.Concat(allowed(), allowedHere()) {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: call, SkipFalse: 1}, allow)
	}
	for _, r := range slices.Concat(conditional(pid), conditionalHere()) {
		program = append(program, r.program(allow, refuse)...)
	}
	return append(program, refuse)
}

// program returns instructions for the rule's system call, when the number of a call is loaded.
func (r rule) program(allow, refuse bpf.Instruction) []bpf.Instruction {
	var body []bpf.Instruction
	for _, c := range r.when {
		body = append(body,
			bpf.LoadAbsolute{Off: argsOffset + 8*c.arg, Size: 4},
			bpf.JumpIf{Cond: c.test, Val: c.value, SkipFalse: 1}, allow)
	}
	body = append(body, refuse)
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpEqual, Val: r.call, SkipFalse: uint8(len(body))}}, body...)
}

// allowed returns system calls without effect outside of the jail, or with effects that
// Landlock restricts.
func allowed() []uint32 {
	return slices.Concat(
		[]uint32{ // threads and memory
			unix.SYS_FUTEX, unix.SYS_MADVISE, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP,
			unix.SYS_MINCORE, unix.SYS_MSEAL, unix.SYS_BRK, unix.SYS_MEMBARRIER, unix.SYS_SCHED_YIELD,
			unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_GETCPU,
			unix.SYS_SET_TID_ADDRESS, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ,
			unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_GETTID, unix.SYS_RESTART_SYSCALL,
		},
		[]uint32{ // time and signals; see conditional for sending these
			unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
			unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING, unix.SYS_SIGALTSTACK,
		},
		[]uint32{ // open files, and attributes of others
			unix.SYS_READ, unix.SYS_WRITE, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_READV, unix.SYS_WRITEV,
			unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_LSEEK, unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS,
			unix.SYS_NEWFSTATAT, unix.SYS_GETDENTS64, unix.SYS_READLINKAT, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_GETCWD,
			unix.SYS_CHDIR, unix.SYS_FCHDIR, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_FADVISE64, unix.SYS_IOCTL, unix.SYS_FLOCK,
			unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE, unix.SYS_SENDFILE,
			unix.SYS_PIPE2, unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EVENTFD2,
			unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2,
		},
		[]uint32{ // itself, and its own children
			unix.SYS_EXECVE, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PRCTL,
			unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETPGID, unix.SYS_GETSID, unix.SYS_GETUID, unix.SYS_GETEUID,
			unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETGROUPS, unix.SYS_GETRESUID, unix.SYS_GETRESGID, unix.SYS_CAPGET,
			unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT, unix.SYS_TIMES, unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETRANDOM,
		},
	)
}

// newNamespaces are the flags of clone that create namespaces, in which a process may
// have rights that it does not have outside.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME

// conditional returns system calls that are harmless with some arguments. The Go runtime
// interrupts its threads with SIGURG; a process may signal itself; it refers to its children by
// the file descriptors from clone, and must not open one for another process. Shared memory
// would not count as data, which is limited.
func conditional(pid int) []rule {
	own := uint32(pid)
	return []rule{
		{unix.SYS_MMAP, []condition{{3, bpf.JumpBitsNotSet, unix.MAP_SHARED}}},
		{unix.SYS_OPENAT, []condition{{2, bpf.JumpBitsNotSet, unix.O_TRUNC}}},
		{unix.SYS_CLONE, []condition{{0, bpf.JumpBitsNotSet, newNamespaces}}},
		{unix.SYS_TGKILL, []condition{{0, bpf.JumpEqual, own}, {2, bpf.JumpEqual, uint32(unix.SIGURG)}}},
		{unix.SYS_KILL, []condition{{0, bpf.JumpEqual, own}}},
		{unix.SYS_PIDFD_OPEN, []condition{{0, bpf.JumpEqual, own}}},
		{unix.SYS_PRLIMIT64, []condition{{0, bpf.JumpEqual, 0}}},
		{unix.SYS_FCNTL, fcntls()},
	}
}

// fcntls returns the commands of fcntl except those that make the kernel send signals, or store
// any number of file locks.
func fcntls() []condition {
	var when []condition
	for _, command := range []uint32{
		unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL,
		unix.F_GETPIPE_SZ, unix.F_SETPIPE_SZ, unix.F_GET_SEALS,
	} {
		when = append(when, condition{1, bpf.JumpEqual, command})
	}
	return when
}

// filterCalls installs the filter for this thread and its children.
func filterCalls(pid int) error {
	raw, err := bpf.Assemble(filter(pid))
	if err != nil {
		return fmt.Errorf("assemble the filter of system calls: %w", err)
	}
	code := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		code[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}
