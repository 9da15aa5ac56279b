package jail

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process, instead of the init process of the system or container, the parent
// of processes that programs in jails leave behind, so that Wait can wait for them. A program that
// starts jails calls it once, at its start. It applies to the whole process, but not to its
// children.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt the processes that jails leave behind: %w", err)
	}
	return nil
}

// reapGroup waits until all processes of a group that was killed have ended, except the leader, and
// reaps those that became children of this process. The leader is reaped by its parent; until
// then, the group's number is not reused.
func reapGroup(leader int) {
	for reapEnded(leader) {
		time.Sleep(time.Millisecond)
	}
}

// reapEnded reaps the processes of a group that are children of this process, and reports
// whether others may still run. Ended children of other processes are reaped by these.
func reapEnded(leader int) (left bool) {
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

// reap waits until a child has ended, and reaps it.
func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
