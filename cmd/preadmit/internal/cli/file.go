package cli

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// WriteFile replaces a file atomically. An existing file keeps its mode. A new one may be read
// by all whom the umask permits. WriteFile writes directly to a file that is not regular, such
// as a pipe or /dev/null.
func WriteFile(path string, write func(io.Writer) error) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		perm := info.Mode().Perm()
		return replace(path, 0o600, func(file *os.File) error { return file.Chmod(perm) }, write)
	}
	return replace(path, 0o666, func(*os.File) error { return nil }, write)
}

// WritePrivateFile is WriteFile for a file that only the user may read, whatever mode an
// existing file has.
func WritePrivateFile(path string, write func(io.Writer) error) error {
	return replace(path, 0o600, func(*os.File) error { return nil }, write)
}

// replace replaces a file by one that is created with perm and the umask, and then prepared.
func replace(path string, perm fs.FileMode, prepare func(*os.File) error, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return closing(file, write)
	}
	// os.CreateTemp makes files of mode 0600, and the umask cannot be read without setting it.
	name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), rand.Uint64()))
	temporary, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(name)
		}
	}()
	if err := prepare(temporary); err != nil {
		_ = temporary.Close()
		return err
	}
	if err := closing(temporary, write); err != nil {
		return err
	}
	return os.Rename(name, path)
}

// AppendFile appends text to a file, and creates it if necessary.
func AppendFile(path, text string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return closing(file, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func closing(file *os.File, write func(io.Writer) error) error {
	if err := write(file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
