package text

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// hashWindow is the number of characters, blanks aside, that a line's hash is made
	// of, from the beginning of the line.
	hashWindow = 100
	// hashFactor is the base of the hash.
	hashFactor = 37
	// hashEnd stands for the end of the file.
	hashEnd = 0xffff
)

// LineHash is the hash of a line, and how many lines up to it have that.
type LineHash struct {
	hash  uint64
	count int
}

// String returns the hash as GitHub has it.
func (h LineHash) String() string {
	return strconv.FormatUint(h.hash, 16) + ":" + strconv.Itoa(h.count)
}

// LineHashes returns for each line of a file the value of primaryLocationLineHash by
// which GitHub's code scanning knows an alert again when lines move: as its uploader
// computes it (github/codeql-action, fingerprints). That is a hash of the characters
// that follow from the beginning of the line, without spaces and tabs and with one
// kind of line break, in hexadecimal, and the number of lines so far with that hash.
// Behind the last line break there is one more line. Characters are UTF-16 code units.
func LineHashes(data []byte) []LineHash {
	units, starts := hashedUnits(data)
	units = append(units, make([]uint16, hashWindow)...) // characters behind the end are 0
	hash, first := uint64(units[0]), uint64(1)           // first is the factor of a window's first character
	for _, unit := range units[1:hashWindow] {
		hash = hash*hashFactor + uint64(unit)
		first *= hashFactor
	}
	hashes := make([]LineHash, len(starts))
	seen := make(map[uint64]int, len(starts))
	begin := 0 // of the window that hash is of
	for i, start := range starts {
		for ; begin < start; begin++ {
			hash = (hash-uint64(units[begin])*first)*hashFactor + uint64(units[begin+hashWindow])
		}
		seen[hash]++
		hashes[i] = LineHash{hash, seen[hash]}
	}
	return hashes
}

// hashedUnits are the characters that count, the end included, and where among them
// lines start.
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
