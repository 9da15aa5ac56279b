package jail

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Access rights to files, as sets of Landlock's.
const (
	readable   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	executable = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	writable   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	// onFiles are the rights that apply to files, not only to directories.
	onFiles = executable | writable
)

// access is a right to a file, or to a directory and everything below it.
type access struct {
	path   string
	rights uint64
	// optional is set for a path that may be missing.
	optional bool
}

// restricted returns all restrictions that a version of Landlock supports. The filter of system
// calls covers those that older versions lack: truncation of files, sockets, and signals to
// other processes.
func restricted(version int) *unix.LandlockRulesetAttr {
	attr := &unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1}
	for _, right := range []struct {
		since int
		file  uint64
		net   uint64
		scope uint64
	}{
		{since: 2, file: unix.LANDLOCK_ACCESS_FS_REFER},
		{since: 3, file: unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{since: 4, net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		{since: 5, file: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{since: 6, scope: unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL},
		{since: 9, file: unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX},
		{since: 10, net: unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP},
	} {
		if version >= right.since {
			attr.Handled_access_fs |= right.file
			attr.Handled_access_net |= right.net
			attr.Scoped |= right.scope
		}
	}
	return attr
}

// rulesetSize is the size of the fields that restricted sets: kernels reject unknown fields
// unless they are zero, and older ones do not know the rest of the struct.
const rulesetSize = unsafe.Sizeof(unix.LandlockRulesetAttr{})

// restrictFiles restricts this thread and its children to the given files.
func restrictFiles(files []access) error {
	version, err := landlockVersion()
	if err != nil {
		return err
	}
	attr := restricted(version)
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), rulesetSize, 0)
	if errno != 0 {
		return fmt.Errorf("make a ruleset of Landlock version %d: %w", version, errno)
	}
	defer unix.Close(int(ruleset))
	for _, file := range files {
		if err := file.addTo(int(ruleset)); err != nil && !(file.optional && errors.Is(err, os.ErrNotExist)) {
			return fmt.Errorf("leave %s accessible: %w", file.path, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); errno != 0 {
		return fmt.Errorf("restrict files: %w", errno)
	}
	return nil
}

func (a access) addTo(ruleset int) error {
	fd, err := unix.Open(a.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	rights := a.rights
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
