package jail

import "golang.org/x/sys/unix"

// arch is the kernel's identifier of this architecture in filters.
const arch = unix.AUDIT_ARCH_AARCH64

// allowedHere returns the older forms of allowed system calls: this architecture has none.
func allowedHere() []uint32 { return nil }

func conditionalHere() []rule { return nil }
