//go:build !unix

package embedded

import (
	"errors"
	"os"
)

// lockFile always fails: there is no lock against other processes here, so no embedded server.
func lockFile(string) (*os.File, error) {
	return nil, errors.New("a data directory cannot be locked on this system; give nats.url")
}

func unlockFile(file *os.File) error { return file.Close() }
