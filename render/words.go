package render

import (
	"bytes"
	"sync"
)

// wordIndex remembers what a file mentions.
type wordIndex struct {
	mu    sync.Mutex
	found map[wordQuestion]bool
	// obscure files may mention anything.
	obscure, examined bool
}

type wordQuestion struct {
	how  wordKind
	text string
}

// wordKind says what counts as a mention.
type wordKind int

const (
	// anyWord is text that is there, also as a part of a word.
	anyWord wordKind = iota
	// kindWord is the kind of an object: a word of its own, or that of a list of
	// such objects.
	kindWord
)

// mentions tells whether a file may hold a text as a scalar or a part of one. A
// file that cannot be read may.
func (t *tree) mentions(real string, how wordKind, text string) bool {
	entry, _ := t.words.LoadOrStore(real, &wordIndex{found: map[wordQuestion]bool{}})
	x := entry.(*wordIndex)
	x.mu.Lock()
	defer x.mu.Unlock()
	q := wordQuestion{how, text}
	if answer, ok := x.found[q]; ok || x.obscure {
		return answer || x.obscure
	}
	data, err := t.read(real)
	if err != nil {
		return true
	}
	data = joinLines(data)
	if !x.examined {
		x.examined, x.obscure = true, isObscure(data)
	}
	x.found[q] = x.obscure || isMentioned(data, how, text)
	return x.found[q]
}

// generatorFields are the fields of a kustomization that make objects of a kind
// they do not name.
var generatorFields = map[string]string{"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}

func isMentioned(data []byte, how wordKind, text string) bool {
	if how == anyWord {
		return bytes.Contains(data, []byte(text))
	}
	if field := generatorFields[text]; field != "" && bytes.Contains(data, []byte(field)) {
		return true
	}
	word := []byte(text)
	for rest := data; ; {
		i := bytes.Index(rest, word)
		if i < 0 {
			return false
		}
		after := bytes.TrimPrefix(rest[i+len(word):], []byte("List"))
		if (i == 0 || !isWordByte(rest[i-1])) && (len(after) == 0 || !isWordByte(after[0])) {
			return true
		}
		rest = rest[i+1:]
	}
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

// joinLines joins the lines that a backslash before the line break joins in a
// double-quoted scalar.
func joinLines(data []byte) []byte {
	if !bytes.Contains(data, []byte("\\\n")) && !bytes.Contains(data, []byte("\\\r\n")) {
		return data
	}
	joined := make([]byte, 0, 2*len(data))
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

// isObscure tells whether scalars of a YAML or JSON text may hold what cannot be
// read in it: it is no UTF-8 (YAML may be UTF-16), has escapes that stand for
// letters (YAML 1.2 section 5.7), binary scalars, or tags spelled so that they may
// be any.
func isObscure(data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 || bytes.HasPrefix(data, []byte("\xFE\xFF")) || bytes.HasPrefix(data, []byte("\xFF\xFE")) {
		return true
	}
	for rest := data; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 == len(rest) {
			break
		}
		if c := rest[i+1]; c == 'x' || c == 'u' || c == 'U' {
			return true
		}
		rest = rest[i+2:]
	}
	return bytes.Contains(data, []byte("%TAG")) || hasObscureTag(data)
}

// hasObscureTag finds a tag of a binary scalar, or one with percent-encoded
// characters.
func hasObscureTag(data []byte) bool {
	for rest := data; ; {
		i := bytes.IndexByte(rest, '!')
		if i < 0 {
			return false
		}
		starts := i == 0 || bytes.IndexByte([]byte(" \t\r\n,[{:-?"), rest[i-1]) >= 0
		rest = rest[i+1:]
		if !starts {
			continue
		}
		tag := rest
		if end := bytes.IndexAny(rest, " \t\r\n"); end >= 0 {
			tag = rest[:end]
		}
		if bytes.IndexByte(tag, '%') >= 0 || bytes.Contains(tag, []byte("binary")) {
			return true
		}
	}
}
