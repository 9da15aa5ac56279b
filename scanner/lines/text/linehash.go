package text

import (
	"strconv"
	"unicode/utf16"
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

// LineHashes returns for each line of a file the value of primaryLocationLineHash by
// which GitHub's code scanning knows an alert again when lines move: as its uploader
// computes it (github/codeql-action, fingerprints). That is a hash of the characters
// that follow from the beginning of the line, without spaces and tabs and with one
// kind of line break, in hexadecimal, and the number of lines so far with that hash.
// Behind the last line break there is one more line. Characters are UTF-16 code units.
func LineHashes(data []byte) []string {
	units, starts := hashedUnits(data)
	hashes := make([]string, len(starts))
	seen := map[uint64]int{}
	for i, start := range starts {
		hash := uint64(0)
		for at := start; at < start+hashWindow; at++ {
			hash *= hashFactor
			if at < len(units) {
				hash += uint64(units[at])
			}
		}
		seen[hash]++
		hashes[i] = strconv.FormatUint(hash, 16) + ":" + strconv.Itoa(seen[hash])
	}
	return hashes
}

// hashedUnits are the characters that count, the end included, and where among them
// lines start.
func hashedUnits(data []byte) (units []uint16, starts []int) {
	all := utf16.Encode([]rune(string(data)))
	units, lineStart := make([]uint16, 0, len(all)+1), true
	take := func(unit uint16) {
		if lineStart {
			starts, lineStart = append(starts, len(units)), false
		}
		units = append(units, unit)
	}
	for i, unit := range all {
		switch unit {
		case ' ', '\t':
		case '\n', '\r':
			if unit == '\n' && i > 0 && all[i-1] == '\r' {
				continue
			}
			take('\n')
			lineStart = true
		default:
			take(unit)
		}
	}
	take(hashEnd)
	return units, starts
}
