package text

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// hashWindow is the number of characters that are hashed for a line, without blanks, from the
	// start of the line.
	hashWindow = 100
	// hashFactor is the base of the hash.
	hashFactor = 37
	// hashEnd represents the end of the file.
	hashEnd = 0xffff
)

// LineHash is the hash of a line and the number of lines with this hash up to and including it.
type LineHash struct {
	hash  uint64
	count int
}

// String returns the hash in GitHub's format.
func (h LineHash) String() string {
	return strconv.FormatUint(h.hash, 16) + ":" + strconv.Itoa(h.count)
}

// LineHashes returns for each line of a file its primaryLocationLineHash, by which GitHub's code
// scanning recognizes an alert when lines move, as its uploader computes it (github/codeql-action,
// fingerprints): the hash of the characters from the start of the line, without spaces and tabs and
// with one kind of line break, in hexadecimal, and the number of lines so far with that hash. There
// is one more line after the last line break. Characters are UTF-16 code units.
func LineHashes(data []byte) []LineHash {
	units, starts := hashedUnits(data)
	units = append(units, make([]uint16, hashWindow)...) // characters after the end are 0
	hash, first := uint64(units[0]), uint64(1)           // first is the factor of a window's first character
	for _, unit := range units[1:hashWindow] {
		hash = hash*hashFactor + uint64(unit)
		first *= hashFactor
	}
	hashes := make([]LineHash, len(starts))
	seen := make(map[uint64]int, len(starts))
	begin := 0 // start of the window that hash is for
	for i, start := range starts {
		for ; begin < start; begin++ {
			hash = (hash-uint64(units[begin])*first)*hashFactor + uint64(units[begin+hashWindow])
		}
		seen[hash]++
		hashes[i] = LineHash{hash, seen[hash]}
	}
	return hashes
}

// hashedUnits returns the characters that are hashed, including the end, and the indexes among them
// where lines start.
func hashedUnits(data []byte) (units []uint16, starts []int) {
	units = make([]uint16, 0, len(data)-bytes.Count(data, []byte{' '})+1+hashWindow)
	starts = make([]int, 0, bytes.Count(data, []byte{'\n'})+1)
	lineStart, before := true, rune(0)
	for _, r := range string(data) {
		last := before
		before = r
		if r == ' ' || r == '\t' || r == '\n' && last == '\r' {
			continue
		}
		if lineStart {
			starts = append(starts, len(units))
		}
		if lineStart = r == '\n' || r == '\r'; lineStart {
			r = '\n'
		}
		if r < utf8.RuneSelf {
			units = append(units, uint16(r))
			continue
		}
		units = utf16.AppendRune(units, r)
	}
	if lineStart {
		starts = append(starts, len(units))
	}
	return append(units, hashEnd), starts
}
