package jail

import "golang.org/x/sys/unix"

// arch is how the kernel names this architecture to filters.
const arch = unix.AUDIT_ARCH_AARCH64

// allowedHere are the older forms of allowed system calls: this architecture has none.
func allowedHere() []uint32 { return nil }

func conditionalHere() []rule { return nil }
