package tree

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
)

// WordSet answers queries about a text without the text: it contains the hashes of its words, four bytes each, sorted.
// It may wrongly report a match, but never wrongly report that there is none. An empty set means that the words are not
// known.
type WordSet []byte

// WordSet returns the words of files; nil if a file cannot be read or may mention anything.
func (t *Tree) WordSet(files []string) WordSet {
	texts := make([][]byte, 0, len(files))
	for _, name := range files {
		data, err := t.Read(name)
		if err != nil {
			return nil
		}
		texts = append(texts, data)
	}
	return WordsOf(texts)
}

// WordsOf returns the words of texts; nil if a text may mention anything.
func WordsOf(texts [][]byte) WordSet {
	found := words{map[string]bool{}, map[string]bool{}}
	for _, text := range texts {
		if isObscure(text) {
			return nil
		}
		found.read(joinLines(text))
	}
	hashes := found.hashes()
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	set := make(WordSet, 0, 4*len(hashes))
	for _, h := range hashes {
		set = binary.BigEndian.AppendUint32(set, h)
	}
	return set
}

// words are the distinct words of texts. groups are the words that Query.endsIn accepts as groups.
type words struct{ whole, groups map[string]bool }

// read adds the words of a text.
func (w words) read(data []byte) {
	for at := 0; at < len(data); {
		if !wordBytes[data[at]] {
			at++
			continue
		}
		end := at
		for end < len(data) && wordBytes[data[end]] {
			end++
		}
		w.add(data[at:end], data[end:])
		if at > 0 && data[at-1] == '\\' { // the first letter may belong to an escape, see beginsWord
			w.add(data[at+1:end], data[end:])
		}
		at = end
	}
}

func (w words) add(word, rest []byte) {
	if !w.whole[string(word)] {
		w.whole[string(word)] = true
	}
	if len(rest) > 0 && (rest[0] == '/' || rest[0] == '\\') && (Query{How: GroupWord}).endsIn(rest) {
		w.groups[string(word)] = true
	}
}

// hashes returns the hashes of the queries that the words match.
func (w words) hashes() []uint32 {
	all := make([]uint32, 0, 2*len(w.whole)+len(w.groups))
	for word := range w.whole {
		all = append(all, hashWord(WholeWord, word))
		for kind, is := word, true; is; kind, is = strings.CutSuffix(kind, "List") {
			all = append(all, hashWord(KindWord, kind))
		}
	}
	for word := range w.groups {
		all = append(all, hashWord(GroupWord, word))
	}
	return all
}

// wordBytes tells which bytes are part of words.
var wordBytes = func() (is [256]bool) {
	for b := range is {
		is[b] = isWordByte(byte(b))
	}
	return is
}()

// hashWord returns the FNV-1a hash of a query.
func hashWord(how QueryKind, word string) uint32 {
	const start, prime = 2166136261, 16777619
	h := (start ^ uint32(how)) * prime
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * prime
	}
	return h
}

// Holds reports whether the text may match a query, like isMentioned.
func (s WordSet) Holds(q Query) bool {
	if q.isVague() {
		return true
	}
	want := hashWord(q.How, q.Text)
	at := sort.Search(len(s)/4, func(i int) bool { return s.at(i) >= want })
	return at < len(s)/4 && s.at(at) == want
}

func (s WordSet) at(i int) uint32 { return binary.BigEndian.Uint32(s[4*i:]) }
