package jail

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// arch is the kernel's identifier of this architecture in filters.
const arch = unix.AUDIT_ARCH_X86_64

// allowedHere returns the older forms of allowed system calls that this architecture has.
func allowedHere() []uint32 {
	return []uint32{
		unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_GETDENTS,
		unix.SYS_PIPE, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_DUP2, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT,
		unix.SYS_EVENTFD, unix.SYS_ARCH_PRCTL, unix.SYS_GETPGRP, unix.SYS_TIME,
	}
}

func conditionalHere() []rule {
	return []rule{{unix.SYS_OPEN, []condition{{1, bpf.JumpBitsNotSet, unix.O_TRUNC}}}}
}
