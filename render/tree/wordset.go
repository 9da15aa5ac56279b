package tree

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
)

// WordSet answers questions about a text that is not there any more: it holds the
// hashes of its words, four bytes each, in order. It may answer yes where the text says
// no, and never the other way round. An empty one is not known.
type WordSet []byte

// WordSet returns the words of files together; nil when one cannot be read or may mention
// anything.
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

// WordsOf returns the words of texts together; nil when one may mention anything.
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

// words are those of texts, and groups those that query.endsIn takes for groups. A text has most of its
// words many times.
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
		if at > 0 && data[at-1] == '\\' { // which may take the first letter, see beginsWord
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

// hashes are those of the questions that the words answer.
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

// wordBytes are the bytes of which words are made.
var wordBytes = func() (is [256]bool) {
	for b := range is {
		is[b] = isWordByte(byte(b))
	}
	return is
}()

// hashWord is the hash FNV-1a of a question.
func hashWord(how QueryKind, word string) uint32 {
	const start, prime = 2166136261, 16777619
	h := (start ^ uint32(how)) * prime
	for i := range len(word) {
		h = (h ^ uint32(word[i])) * prime
	}
	return h
}

// Holds reports whether a question may be answered by the text, as isMentioned does.
func (s WordSet) Holds(q Query) bool {
	if q.isVague() {
		return true
	}
	want := hashWord(q.How, q.Text)
	at := sort.Search(len(s)/4, func(i int) bool { return s.at(i) >= want })
	return at < len(s)/4 && s.at(at) == want
}

func (s WordSet) at(i int) uint32 { return binary.BigEndian.Uint32(s[4*i:]) }
