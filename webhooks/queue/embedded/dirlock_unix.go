//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file until unlockFile or the end of the process.
func lockFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errors.New("another process uses it; stop that one or name another directory")
		}
		return nil, errors.Join(fmt.Errorf("locking: %w", err), file.Close())
	}
	return file, nil
}

// unlockFile releases the lock and closes the file. Closing is not enough: a child process that
// is being started shares the open file, and so the lock, until it executes.
func unlockFile(file *os.File) error {
	return errors.Join(unix.Flock(int(file.Fd()), unix.LOCK_UN), file.Close())
}
