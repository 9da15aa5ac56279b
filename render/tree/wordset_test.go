package tree

import (
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"testing/fstest"
)

// FuzzWordSet checks that the stored words of a text answer queries like the text.
func FuzzWordSet(f *testing.F) {
	for _, text := range []string{
		"kind: Namespace", `"a\nNamespace"`, "NamespaceListList", "apps/v1", `apps\/v1`, `x\\/y`, "-a.b_c-", `\\`, "List", "a\\\n  b", "",
	} {
		f.Add(text, "Namespace")
		f.Add(text, "apps")
		f.Add(text, "List")
	}
	f.Fuzz(func(t *testing.T, text, word string) {
		r := New(fstest.MapFS{"f": {Data: []byte(text)}}, Limits{})
		set := r.WordSet([]string{"f"})
		for how := WholeWord; how <= GroupWord; how++ {
			for _, w := range append(strings.FieldsFunc(text, func(r rune) bool { return r > 0x7F || !isWordByte(byte(r)) }), word) {
				q := Query{how, w}
				if w == "" || isObscure([]byte(text)) {
					continue
				}
				if got, want := set.Holds(q), isMentioned(joinLines([]byte(text)), q); got != want {
					t.Errorf("%q in %q: %v, want %v", fmt.Sprint(q), text, got, want)
				}
			}
		}
	})
}

// TestHashes checks that words have the same hashes as in caches of other builds.
func TestHashes(t *testing.T) {
	for _, how := range []QueryKind{WholeWord, KindWord, GroupWord} {
		for _, word := range []string{"", "Deployment", "apps", "é\xff"} {
			h := fnv.New32a()
			_, _ = h.Write(append([]byte{byte(how)}, word...))
			if got := hashWord(how, word); got != h.Sum32() {
				t.Errorf("%d %q has the hash %x, want %x", how, word, got, h.Sum32())
			}
		}
	}
}
