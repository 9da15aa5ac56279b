package github

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	note := func(left int) string { return fmt.Sprintf("\n\n[%03d]\n", left) }
	for name, test := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"fits":            {"a\nb\n", 4, "a\nb\n"},
		"lines":           {"aaaa\nbbbb\ncccc\ndddd\n", 19, "aaaa\nbbbb\n\n[002]\n"},
		"fence":           {"x\n```diff\n+ one\n+ two\n+ three\n```\nend\n", 34, "x\n```diff\n+ one\n+ two\n```\n\n[003]\n"},
		"tildes":          {"~~~\n```\nx\ny\nz\nz\nz\nz\nz\nz\n~~~\n", 24, "~~~\n```\nx\ny\n~~~\n\n[007]\n"},
		"long fence":      {"````\n```\nx\n12345678901234567890\n````\n", 32, "````\n```\nx\n````\n\n[002]\n"},
		"details":         {"<details><summary>s</summary>\n\na\nb\nc\nd\n\n</details>\n1234567890\n", 55, "<details><summary>s</summary>\n\na\nb\n\n</details>\n\n[005]\n"},
		"behind":          {"```\na\n```\nbbbbbbbbbbbb\n", 18, "```\na\n```\n\n[001]\n"},
		"not half a line": {"`@user is " + strings.Repeat("x", 50) + "`\n", 40, "\n\n[001]\n"},
		"tag in a fence":  {"```\n<details>\n```\nbbbbbbbbbbbbb\n", 27, "```\n<details>\n```\n\n[001]\n"},
		"deep ticks":      {"```\n        ```\nbbbbbbbbbbbbb\n", 28, "```\n        ```\n```\n\n[001]\n"},
		"code span":       {"```a`b\nx\nbbbbbbbbbbbbb\n", 18, "```a`b\nx\n\n[001]\n"},
		"tag in a span":   {"`<details>`\nx\nbbbbbbbbbbbbb\n", 22, "`<details>`\nx\n\n[001]\n"},
		"no room at all":  {"aaaa\nbbbb\n", 5, ""},
	} {
		got := cut(test.text, test.limit, bytesOf, note)
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if len(got) > test.limit {
			t.Errorf("%s has %d bytes, limit %d", name, len(got), test.limit)
		}
	}
}

// FuzzCut: for any text, the limit holds, runes are not split, and fences are closed.
func FuzzCut(f *testing.F) {
	f.Add("# t\n\n```diff\n- a\n+ b\n```\n<details>\n<summary>x</summary>\n\n| a | b |\n\n</details>\n", 60)
	f.Add("語語語\n~~~\n```\n", 20)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit %= 2000
		if limit < 0 {
			return
		}
		for _, size := range []func(string) int{bytesOf, utf8.RuneCountInString} {
			got := cut(text, limit, size, cutNote("https://example.com/1"))
			if size(got) > limit && limit >= size(cutNote("https://example.com/1")(99999)) {
				t.Errorf("%d over %d", size(got), limit)
			}
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Errorf("%q is not UTF-8", got)
			}
			if got == text {
				continue
			}
			var open nesting
			for _, line := range strings.SplitAfter(got, "\n") {
				open.read(line)
			}
			if open.closing() != "" {
				t.Errorf("%q leaves open %+v", got, open)
			}
		}
	})
}

func TestClipKeepsRunes(t *testing.T) {
	for limit := 3; limit < 12; limit++ {
		got := clip("語語語語", limit)
		if len(got) > limit || !utf8.ValidString(got) {
			t.Errorf("clip to %d gives %q", limit, got)
		}
	}
}
