package jail

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process, instead of the first of the system or container, the
// parent of what programs in jails leave behind when they end, so that Wait can see it
// off. A program that starts jails calls it once, at its start. It is for the whole
// process, but not for those it starts.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt the processes that jails leave behind: %w", err)
	}
	return nil
}

// bury waits until a group that was killed has ended but for its leader, and reaps those
// of it that became children of ours. The leader is left for who started it, and until
// then nobody else can have the number of the group.
func bury(leader int) {
	for anyLeft(leader) {
		time.Sleep(time.Millisecond)
	}
}

// anyLeft reaps what it can of a group, and tells whether to look once more. What has
// ended as the child of somebody else is theirs to reap.
func anyLeft(leader int) (left bool) {
	us := os.Getpid()
	for p := range members(leader) {
		switch {
		case p.pid == leader:
		case p.parent == us:
			reap(p.pid)
			left = true
		case p.state != 'Z' && p.state != 'X':
			left = true
		}
	}
	return left
}

// reap waits for a child of ours to end, and for good.
func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
