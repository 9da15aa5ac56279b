package tree

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sort"
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
	var hashes []uint32
	for _, text := range texts {
		if isObscure(text) {
			return nil
		}
		hashes = appendWords(hashes, joinLines(text))
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	set := make(WordSet, 0, 4*len(hashes))
	for _, h := range hashes {
		set = binary.BigEndian.AppendUint32(set, h)
	}
	return set
}

// appendWords adds the words of a text, and what question.endsIn makes of them.
func appendWords(hashes []uint32, data []byte) []uint32 {
	for at := 0; at < len(data); {
		if !isWordByte(data[at]) {
			at++
			continue
		}
		end := at
		for end < len(data) && isWordByte(data[end]) {
			end++
		}
		hashes = appendWord(hashes, data[at:end], data[end:])
		if at > 0 && data[at-1] == '\\' { // which may take the first letter, see beginsWord
			hashes = appendWord(hashes, data[at+1:end], data[end:])
		}
		at = end
	}
	return hashes
}

func appendWord(hashes []uint32, word, rest []byte) []uint32 {
	hashes = append(hashes, hashWord(WholeWord, word))
	if (Query{How: GroupWord}).endsIn(rest) {
		hashes = append(hashes, hashWord(GroupWord, word))
	}
	for {
		hashes = append(hashes, hashWord(KindWord, word))
		shorter, ok := bytes.CutSuffix(word, []byte("List"))
		if !ok {
			return hashes
		}
		word = shorter
	}
}

func hashWord(how QueryKind, word []byte) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte{byte(how)}) // a hash does not fail to be written to
	_, _ = h.Write(word)
	return h.Sum32()
}

// Holds reports whether a question may be answered by the text, as isMentioned does.
func (s WordSet) Holds(q Query) bool {
	if q.isVague() {
		return true
	}
	want := hashWord(q.How, []byte(q.Text))
	at := sort.Search(len(s)/4, func(i int) bool { return s.at(i) >= want })
	return at < len(s)/4 && s.at(at) == want
}

func (s WordSet) at(i int) uint32 { return binary.BigEndian.Uint32(s[4*i:]) }
