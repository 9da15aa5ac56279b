package escape

import (
	"encoding/json"
	"html"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":      "plain text",
		"café 東京 🚀":       "café 東京 🚀",
		"C:\\path":        "C:\\path",
		"a\nb\r\tc":       `a\nb\r\tc`,
		"\x1b[31mred":     `\x1b[31mred`,
		"\x00\x7f":        `\x00\x7f`,
		"\u009b31m":       `\u009b31m`,
		"\u202eevil":      `\u202eevil`,
		"zero\u200bwidth": `zero\u200bwidth`,
		"\ufeffbom":       `\ufeffbom`,
		"\u2028":          `\u2028`,
		"bad\xffutf8":     `bad\xffutf8`,
		"tag\U000e0041":   `tag\U000e0041`,
		"it's":            "it's",
		"'\x07'":          `'\a'`,
	} {
		if got := Text(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestGuardLine(t *testing.T) {
	for in, want := range map[string]string{
		"::error::x":          `\u003a:error::x`,
		"  \t::error::x":      "  \t" + `\u003a:error::x`,
		"\u3000::error::x":    "\u3000" + `\u003a:error::x`,
		"7 | ::error::x":      "7 | ::error::x",
		"say ##[add-mask]it":  `say ##\u005badd-mask]it`,
		"range ::/0 is large": "range ::/0 is large",
	} {
		if got := Guard(in); got != want {
			t.Errorf("guardLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestGuardHTML(t *testing.T) {
	for in, want := range map[string]string{
		"<pre>::x\n::error::y":    "<pre>::x\n&#58;&#58;error::y",
		"::\n \t::x\n":            "&#58;&#58;\n \t&#58;&#58;x\n",
		"\n\u3000::x\n\n":         "\n\u3000&#58;&#58;x\n\n",
		"say ###[add-mask]##[it]": "say ###&#91;add-mask]##&#91;it]",
		"range ::/0 is large":     "range ::/0 is large",
	} {
		if got := GuardHTML(in); got != want || html.UnescapeString(got) != in {
			t.Errorf("guardHTML(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestGuardJSONKeepsTheMeaning(t *testing.T) {
	want := "a\u202e\u009b\x7f##[x]\U000e0041é東🚀\u2028 [1] #["
	doc, err := json.Marshal([]string{want, want})
	if err != nil {
		t.Fatal(err)
	}
	safe := GuardJSON(doc)
	var got []string
	if err := json.Unmarshal(safe, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{want, want}, got); diff != "" {
		t.Errorf("the value changed (-want +got):\n%s", diff)
	}
	if bad := Unsafe(string(safe)); bad != "" {
		t.Errorf("%s holds %q", safe, bad)
	}
}

// Unsafe returns the first text in a document that must not reach a terminal or a CI
// runner.
func Unsafe(doc string) string {
	for _, line := range strings.Split(doc, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			return line
		}
	}
	for i, r := range doc {
		if r == utf8.RuneError && !strings.HasPrefix(doc[i:], "\ufffd") {
			return doc[i:min(len(doc), i+4)]
		}
		if r != '\n' && (unicode.Is(unicode.C, r) || r == '\u2028' || r == '\u2029') {
			return string(r)
		}
	}
	return ""
}
