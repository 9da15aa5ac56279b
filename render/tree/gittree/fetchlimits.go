package gittree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// Limits bound what a fetch accepts from a server. A zero field means no limit. The context limits the time.
type Limits struct {
	// Bytes is the maximum size of one answer as transferred: the list of references, or the pack.
	Bytes int64
	// Objects is the maximum number of commits, trees and files in a pack.
	Objects int64
	// Object is the maximum size of one of them, unpacked, in bytes. A delta counts as its result. A whole delta chain
	// may have chainObjects times this size.
	Object int64
	// Unpacked is the maximum size of all of them together, unpacked, in bytes.
	Unpacked int64
}

// chainObjects is how many objects of maximum size a delta chain may need. Base and head have two versions of a file.
const chainObjects = 2

// Limit is the name of a limit.
type Limit string

// The limits. LimitTime is for callers that limit the time of a fetch: a LimitError with it is the cause of the
// canceled context.
const (
	LimitBytes    Limit = "bytes"
	LimitObjects  Limit = "objects"
	LimitObject   Limit = "object"
	LimitChain    Limit = "chain"
	LimitUnpacked Limit = "unpacked"
	LimitTime     Limit = "time"
)

// LimitError is the error of a fetch that exceeded a limit.
type LimitError struct {
	Limit Limit
	// Max is the limit: a number of bytes or objects, or of seconds.
	Max int64
}

func (e *LimitError) Error() string {
	switch e.Limit {
	case LimitBytes:
		return fmt.Sprintf("the server's answer has more than %d bytes", e.Max)
	case LimitObjects:
		return fmt.Sprintf("there are more than %d commits, directories and files", e.Max)
	case LimitObject:
		return fmt.Sprintf("there is a file or directory of more than %d bytes", e.Max)
	case LimitChain:
		return fmt.Sprintf("there are files that are stored as changes of one another and have more than %d bytes together", e.Max)
	case LimitUnpacked:
		return fmt.Sprintf("all files and directories together have more than %d bytes", e.Max)
	}
	return fmt.Sprintf("it takes longer than %d seconds", e.Max)
}

// over returns an error if a number exceeds a limit that is set.
func over(limit Limit, n, most int64) error {
	if most > 0 && n > most {
		return &LimitError{Limit: limit, Max: most}
	}
	return nil
}

// bounded reports whether a pack must be inspected before it is stored.
func (l Limits) bounded() bool { return l.Objects > 0 || l.Object > 0 || l.Unpacked > 0 }

// inspected writes a pack to a file in dir while it checks the declared sizes against the limits, and returns the file,
// positioned at its beginning. go-git indexes a pack with whole objects in memory, so a pack that exceeds a limit must
// not be passed to it.
func (l Limits) inspected(pack io.Reader, dir string) (*os.File, error) {
	file, err := os.CreateTemp(dir, "received-*")
	if err != nil {
		return nil, fmt.Errorf("keep the pack: %w", err)
	}
	err = l.inspect(io.TeeReader(pack, file))
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, nil
}

// inspect reads a pack to its end, or stops when it exceeds a limit.
func (l Limits) inspect(pack io.Reader) error {
	s := packfile.NewScanner(pack)
	_, count, err := s.Header()
	if err != nil {
		return err
	}
	if err := over(LimitObjects, int64(count), l.Objects); err != nil {
		return err
	}
	var sum int64
	made := chains{most: chainObjects * l.Object}
	for range count {
		size, err := l.next(s, &made)
		if err != nil {
			return err
		}
		sum += size
		if err := over(LimitUnpacked, sum, l.Unpacked); err != nil {
			return err
		}
	}
	if _, err := s.Checksum(); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, pack) // messages may follow it
	return err
}

// next returns the unpacked size of the next object. The scanner reads at most the declared size.
func (l Limits) next(s *packfile.Scanner, made *chains) (int64, error) {
	header, err := s.NextObjectHeader()
	if err != nil {
		return 0, err
	}
	if err := over(LimitObject, header.Length, l.Object); err != nil {
		return 0, err
	}
	delta := header.Type == plumbing.OFSDeltaObject || header.Type == plumbing.REFDeltaObject
	var start beginning
	if _, _, err := s.NextObject(&start); err != nil {
		return 0, err
	}
	size := header.Length
	if delta {
		target, err := start.target()
		if err != nil {
			return 0, err
		}
		if err := over(LimitObject, target, l.Object); err != nil {
			return 0, err
		}
		size = max(size, target)
	}
	return size, made.add(header, size)
}

// beginning keeps the first bytes that are written to it: those of a delta contain the size of its result.
type beginning struct{ first []byte }

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	if room := 2*binary.MaxVarintLen64 - len(b.first); room > 0 {
		b.first = append(b.first, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// target returns the size of a delta's result: the second of two variable-length integers (gitformat-pack, "Deltified
// representation").
func (b *beginning) target() (int64, error) {
	r := bytes.NewReader(b.first)
	_, err := binary.ReadUvarint(r)
	if err != nil {
		return 0, fmt.Errorf("read the size of a delta: %w", err)
	}
	size, err := binary.ReadUvarint(r)
	if err != nil || size > 1<<62 {
		return 0, errors.New("read the size of a delta: it is none")
	}
	return int64(size), nil
}
