package store

import "fmt"

// Limits bound what an archive may hold. A zero field takes its default.
type Limits struct {
	// Entries is the largest number of files, directories and links. Default 100,000.
	Entries int
	// Bytes is the most that all files have together, unpacked. Default 1 GiB.
	Bytes int64
	// FileBytes is the most that one file has. Default 64 MiB.
	FileBytes int64
	// Packed is the most that is held in memory of an archive that is compressed, unpacked.
	// Default 256 MiB.
	Packed int64
}

// maxDepth is the largest number of directories of a path, maxName the most bytes of one.
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

// ArchiveError says why an archive is not opened.
type ArchiveError struct{ Why string }

func (e *ArchiveError) Error() string { return "the archive is refused: " + e.Why }

func refuse(format string, args ...any) error {
	return &ArchiveError{fmt.Sprintf(format, args...)}
}
