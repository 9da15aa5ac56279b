package tree

import (
	"bytes"
	"strings"
	"sync"
)

// wordIndex caches which words a file mentions.
type wordIndex struct {
	mu    sync.Mutex
	found map[Query]bool
	// obscure is set if the file may mention anything, dollar if it contains a dollar sign.
	obscure, dollar, examined bool
}

// Query is a text to search for in files. Every file matches an empty text.
type Query struct {
	How  QueryKind
	Text string
}

// QueryKind is the kind of match for a Query.
type QueryKind int

const (
	// WholeWord matches a scalar of its own.
	WholeWord QueryKind = iota
	// KindWord matches the kind of an object, or of a list of such objects, or of such lists.
	KindWord
	// GroupWord matches the group of an apiVersion.
	GroupWord
)

// Mentions sets the answers to the queries that a file may match. A file that cannot be read may match all.
func (t *Tree) Mentions(real string, asked []Query, answers []bool) {
	x := t.wordsOf(real)
	x.mu.Lock()
	defer x.mu.Unlock()
	var data []byte
	for i, q := range asked {
		if answers[i] {
			continue
		}
		answer, known := x.found[q]
		if !known && !x.obscure && data == nil {
			data = x.open(t, real)
		}
		if !known && !x.obscure {
			answer = isMentioned(data, q)
			x.found[q] = answer
		}
		answers[i] = answer || x.obscure
	}
}

// HoldsDollar reports whether a file may contain a dollar sign, with which variables begin.
func (t *Tree) HoldsDollar(real string) bool {
	x := t.wordsOf(real)
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.examined {
		x.open(t, real)
	}
	return x.dollar || x.obscure
}

func (t *Tree) wordsOf(real string) *wordIndex {
	if x, ok := t.words.Load(real); ok {
		return x.(*wordIndex)
	}
	x, _ := t.words.LoadOrStore(real, &wordIndex{found: map[Query]bool{}})
	return x.(*wordIndex)
}

// open reads a file and sets whether it is obscure.
func (x *wordIndex) open(t *Tree, real string) []byte {
	data, err := t.Read(real)
	if !x.examined {
		x.examined, x.obscure, x.dollar = true, isObscure(data), bytes.IndexByte(data, '$') >= 0
	}
	x.obscure = x.obscure || err != nil
	return joinLines(data)
}

// isMentioned reports whether a text occurs other than as part of a longer word. A text that needs quotes, or that may
// be written in another way, is assumed to occur everywhere.
func isMentioned(data []byte, q Query) bool {
	if q.isVague() {
		return true
	}
	for start, word := 0, []byte(q.Text); ; start++ {
		i := bytes.Index(data[start:], word)
		if i < 0 {
			return false
		}
		start += i
		if beginsWord(data, start) && q.endsIn(data[start+len(word):]) {
			return true
		}
	}
}

// isVague reports whether a text is assumed to occur everywhere.
func (q Query) isVague() bool {
	return strings.IndexFunc(q.Text, func(r rune) bool { return r > 0x7F || !isWordByte(byte(r)) }) >= 0
}

// beginsWord reports whether a word may begin at a position. The last character of an escape in a quoted scalar is not
// part of a word.
func beginsWord(data []byte, at int) bool {
	return at == 0 || !isWordByte(data[at-1]) || at > 1 && data[at-2] == '\\'
}

// endsIn reports whether the match before rest is complete.
func (q Query) endsIn(rest []byte) bool {
	switch q.How {
	case KindWord:
		for bytes.HasPrefix(rest, []byte("List")) {
			rest = rest[len("List"):]
		}
	case GroupWord:
		return bytes.HasPrefix(bytes.TrimLeft(rest, `\`), []byte("/"))
	}
	return len(rest) == 0 || !isWordByte(rest[0])
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-' || b == '.' || b == '_'
}

// joinLines appends to a text a copy in which the lines are joined that a backslash before the line break joins in a
// double-quoted scalar.
func joinLines(data []byte) []byte {
	if !bytes.Contains(data, []byte("\\\n")) && !bytes.Contains(data, []byte("\\\r\n")) {
		return data
	}
	joined := make([]byte, 0, 2*len(data)+1)
	joined = append(append(joined, data...), '\n')
	for len(data) > 0 {
		i := bytes.IndexByte(data, '\\')
		if i < 0 {
			break
		}
		joined = append(joined, data[:i]...)
		data = data[i+1:]
		if broken := bytes.TrimLeft(data, "\r\n"); len(broken) < len(data) {
			data = bytes.TrimLeft(broken, " \t\r\n")
		} else {
			joined = append(joined, '\\')
		}
	}
	return append(joined, data...)
}

// isObscure reports whether scalars of a YAML or JSON text may contain text that is not visible in it: it is not UTF-8
// (YAML may be UTF-16), has escapes that stand for letters (YAML 1.2 section 5.7) or join lines in unusual ways, binary
// scalars, or tags with escapes. A scalar may itself contain such a text with escaped backslashes, as patches do.
func isObscure(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 || isUTF16(data) {
		return true
	}
	for rest := data; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 {
			break
		}
		if rest = rest[i+1:]; isObscureEscape(rest) {
			return true
		}
	}
	return bytes.Contains(data, []byte("%TAG")) || hasObscureTag(data)
}

// isObscureEscape reports whether rest, which follows a backslash, makes a text obscure: a number; a line break that is
// not one elsewhere (NEL, LS, PS, a carriage return); or another backslash and an escape for a line break, which become
// a backslash before a line break in the scalar's text.
func isObscureEscape(rest []byte) bool {
	if len(rest) == 0 {
		return false
	}
	switch c := rest[0]; c {
	case 'x', 'u', 'U':
		return true
	case '\r':
		return len(rest) == 1 || rest[1] != '\n'
	case '\\':
		return len(rest) > 2 && rest[1] == '\\' && strings.IndexByte("nrNLP", rest[2]) >= 0
	default:
		return c > 0x7F
	}
}

// hasObscureTag reports whether a text has a tag of a binary scalar, or one with percent-encoded characters.
func hasObscureTag(data []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(data[at:], '!')
		if i < 0 {
			return false
		}
		at += i
		if !beginsTag(data, at) {
			continue
		}
		tag := data[at+1:]
		if end := bytes.IndexAny(tag, " \t\r\n"); end >= 0 {
			tag = tag[:end]
		}
		if bytes.IndexByte(tag, '%') >= 0 || bytes.Contains(tag, []byte("binary")) {
			return true
		}
	}
}

// beginsTag reports whether a tag may begin at a position: after white space, which in YAML may have several bytes,
// after an indicator, or after an escape for either.
func beginsTag(data []byte, at int) bool {
	if at == 0 {
		return true
	}
	before := data[at-1]
	return before > 0x7F || strings.IndexByte(" \t\r\n,[{:-?", before) >= 0 || at > 1 && data[at-2] == '\\'
}
