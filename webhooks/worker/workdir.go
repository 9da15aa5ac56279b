package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// workDirPrefix is the prefix of the directories' names.
const workDirPrefix = "preadmit-work-"

// workDir is this process' directory for fetched repositories. A lock on it shows other processes
// that it is in use.
type workDir struct {
	dir  string
	lock *os.File
}

// openWorkDir creates a directory below parent, and removes those of processes that ended.
func openWorkDir(parent string) (*workDir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	if err := sweepWorkDirs(parent); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		r, err := newWorkDir(parent)
		if err == nil || try == 5 {
			return r, err
		}
	}
}

// newWorkDir creates and locks a directory. In between, another process may remove it as
// unused; then it returns an error.
func newWorkDir(parent string) (*workDir, error) {
	dir, err := os.MkdirTemp(parent, workDirPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &workDir{dir, lock}, nil
}

// lockDir locks a directory. The system unlocks it when the process ends for any reason.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// sweepWorkDirs removes directories without a lock. One that cannot be removed, such as that of
// another user, stays.
func sweepWorkDirs(parent string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), workDirPrefix) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		lock, err := lockDir(dir)
		if err != nil {
			continue // in use, or not accessible
		}
		_ = os.RemoveAll(dir) // an error is ignored; see above
		_ = lock.Close()
	}
	return nil
}

// take creates a directory for one job.
func (r *workDir) take() (string, error) { return os.MkdirTemp(r.dir, "job-*") }

func (r *workDir) close() {
	_ = os.RemoveAll(r.dir) // on an error the next process removes it
	_ = r.lock.Close()
}
