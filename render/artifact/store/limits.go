package store

import "fmt"

// Limits bound the content of an archive. A zero field means the default.
type Limits struct {
	// Entries is the maximum number of files, directories and links. Default 100,000.
	Entries int
	// Bytes is the maximum size of all files together, unpacked. Default 1 GiB.
	Bytes int64
	// FileBytes is the maximum size of one file. Default 64 MiB.
	FileBytes int64
	// Packed is the maximum size of a compressed archive in memory, unpacked. Default 256 MiB.
	Packed int64
}

// maxDepth is the maximum number of directories in a path, maxName the maximum length of a path in bytes.
const (
	maxDepth = 64
	maxName  = 1024
)

func (l Limits) withDefaults() Limits {
	if l.Entries == 0 {
		l.Entries = 100_000
	}
	if l.Bytes == 0 {
		l.Bytes = 1 << 30
	}
	if l.FileBytes == 0 {
		l.FileBytes = 64 << 20
	}
	if l.Packed == 0 {
		l.Packed = 256 << 20
	}
	return l
}

// ArchiveError is the reason why an archive is refused.
type ArchiveError struct{ Why string }

func (e *ArchiveError) Error() string { return "the archive is refused: " + e.Why }

func refuse(format string, args ...any) error {
	return &ArchiveError{fmt.Sprintf(format, args...)}
}
