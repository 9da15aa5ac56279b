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

// Limits bound what a fetch takes from a server. A zero field is no bound. Time is
// bounded by the context.
type Limits struct {
	// Bytes is the most that one answer may have, as it is sent: the list of references,
	// or the pack.
	Bytes int64
	// Objects is the most commits, trees and files that a pack may have.
	Objects int64
	// Object is the most bytes that one of them may have, unpacked. A delta counts as
	// what it makes. An object, what it is a delta of, what that is a delta of, and so on
	// may have chainObjects times as many together.
	Object int64
	// Unpacked is the most bytes that all of them may have together, unpacked.
	Unpacked int64
}

// chainObjects is how many of the largest objects may be needed to make one of them. Base
// and head have two versions of a file.
const chainObjects = 2

// Limit names a bound of Limits.
type Limit string

// What may be over its limit. LimitTime is for callers who bound a fetch by a context:
// an error like the others, as the cause of its end.
const (
	LimitBytes    Limit = "bytes"
	LimitObjects  Limit = "objects"
	LimitObject   Limit = "object"
	LimitChain    Limit = "chain"
	LimitUnpacked Limit = "unpacked"
	LimitTime     Limit = "time"
)

// LimitError is a fetch that was given up because it would take more than it may.
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

// over returns an error when a number is over a limit that is set.
func over(limit Limit, n, most int64) error {
	if most > 0 && n > most {
		return &LimitError{Limit: limit, Max: most}
	}
	return nil
}

// bounded reports whether a pack has to be looked at before it is taken.
func (l Limits) bounded() bool { return l.Objects > 0 || l.Object > 0 || l.Unpacked > 0 }

// inspected keeps a pack in a file of dir while what it declares is held against the
// limits, and returns the file from its beginning. go-git holds whole objects in memory
// to index a pack, so that one over a limit must not reach it.
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

// inspect reads a pack to its end, and no further than to what is over a limit.
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
	_, err = io.Copy(io.Discard, pack) // messages after it
	return err
}

// next returns the unpacked size of the next object. The scanner reads no more of it than
// it declares.
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

// beginning keeps the first bytes of what is written: those of a delta tell how large
// its result is.
type beginning struct{ first []byte }

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	if room := 2*binary.MaxVarintLen64 - len(b.first); room > 0 {
		b.first = append(b.first, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// target is the size of a delta's result: the second of two variable-length integers
// (gitformat-pack, "Deltified representation").
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
