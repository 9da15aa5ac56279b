package github

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLineMap(t *testing.T) {
	for name, test := range map[string]struct {
		from, to string // a line for each letter
		want     string // line by line, those without a counterpart marked with ~
	}{
		"same":               {"abc", "abc", "1 2 3"},
		"base added above":   {"xyabc", "abc", "~1 ~1 1 2 3"},
		"base added between": {"abxyc", "abc", "1 2 ~2 ~2 3"},
		"base added below":   {"abcxy", "abc", "1 2 3 ~3 ~3"},
		"head has more":      {"abc", "axbyc", "1 3 5"},
		"one is another":     {"abc", "axc", "1 ~1 3"},
		"nothing in common":  {"ab", "xyz", "~1 ~1"},
		"head is empty":      {"ab", "", "~1 ~1"},
		"judged is empty":    {"", "ab", ""},
		"far apart":          {"xabcdefghijklmnopqy", "abcdefghZijklmnopq", "~1 1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 17 18 ~18"},
	} {
		m := MapLines(spread(test.from), spread(test.to))
		var got []string
		for n := range len(test.from) {
			line, exact := m.Line(n + 1)
			mark := ""
			if !exact {
				mark = "~"
			}
			got = append(got, fmt.Sprint(mark, line))
		}
		if g := strings.Join(got, " "); g != test.want {
			t.Errorf("%s: %s, want %s", name, g, test.want)
		}
	}
}

// spread returns a text with a line for each letter.
func spread(letters string) []byte {
	var b strings.Builder
	for _, l := range letters {
		fmt.Fprintf(&b, "%c\n", l)
	}
	return []byte(b.String())
}

func TestLinesOutsideTheText(t *testing.T) {
	m := MapLines([]byte("a\nb"), []byte("x\na\nb"))
	for _, n := range []int{-1, 0, 3, 99} {
		if line, exact := m.Line(n); exact || line != 3 {
			t.Errorf("line %d is %d, exact %v; want 3 and not exact", n, line, exact)
		}
	}
	if line, exact := m.Line(2); line != 3 || !exact {
		t.Errorf("the last line, without newline, is %d, exact %v", line, exact)
	}
}

// TestLineMapKeepsLines: lines that map exactly have the same text on both sides.
func TestLineMapKeepsLines(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	exacts := 0
	for range 300 {
		var from, to []string
		for i := range random.IntN(60) {
			line := fmt.Sprintf("line %d of %d", random.IntN(20), i)
			if random.IntN(4) > 0 {
				from = append(from, line)
			}
			if random.IntN(4) > 0 {
				to = append(to, line)
			}
		}
		m := MapLines([]byte(strings.Join(from, "\n")), []byte(strings.Join(to, "\n")))
		last := 0
		for n := range from {
			line, exact := m.Line(n + 1)
			if line < 1 || line < last {
				t.Fatalf("line %d of %q in %q is %d, before %d", n+1, from, to, line, last)
			}
			last = line
			if !exact {
				continue
			}
			exacts++
			if line > len(to) || to[line-1] != from[n] {
				t.Fatalf("line %d of %q in %q is %d", n+1, from, to, line)
			}
		}
	}
	if exacts < 1000 {
		t.Errorf("only %d lines were mapped", exacts)
	}
}

// TestAnnotationsAreTranslated: their lines are translated from the merge commit to the head.
func TestAnnotationsAreTranslated(t *testing.T) {
	r := findings(4)
	judged := fstest.MapFS{"apps/0.yaml": {Data: []byte("base\na\nb\nc\n")}}
	shown := fstest.MapFS{"apps/0.yaml": {Data: []byte("a\nb\nc\n")}}
	check, err := NewCheck(r, CheckOptions{Lines: Translation{Judged: judged, Head: shown}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range check.Annotations {
		first, rest, _ := strings.Cut(a.Message, "\n")
		got[first] = fmt.Sprintf("%d-%d:%d %v", a.StartLine, a.EndLine, a.StartColumn, strings.Contains(rest, "merge"))
	}
	want := map[string]string{
		"number 0 is too much": "1-1:0 true", "number 1 is too much": "1-1:3 false",
		"number 2 is too much": "2-2:3 false", "number 3 is too much": "3-3:3 false",
	}
	for message, place := range want {
		if got[message] != place {
			t.Errorf("%s is at %s, want %s", message, got[message], place)
		}
	}
	check, err = NewCheck(r, CheckOptions{Lines: Translation{Judged: judged, Head: fstest.MapFS{}}})
	if err != nil || len(check.Annotations) != 0 || check.Hidden != 4 {
		t.Errorf("a file that the head lacks: %d annotations, %d hidden, %v", len(check.Annotations), check.Hidden, err)
	}
	if _, err = NewCheck(r, CheckOptions{Lines: Translation{Judged: broken{}, Head: shown}}); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want that of the tree", err)
	}
}

var errBroken = errors.New("broken")

// broken is a tree that cannot be read.
type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, errBroken }
