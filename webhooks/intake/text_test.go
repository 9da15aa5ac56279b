package intake

import (
	"strings"
	"testing"
)

// TestParseCommand checks that only an exact command on the first line is accepted.
func TestParseCommand(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]string{
		"/preadmit rescan":                                  "/preadmit rescan",
		"/preadmit rescan  \t\r\nand a reason":              "/preadmit rescan",
		"/preadmit rescan\n/preadmit explain 1":             "/preadmit rescan",
		"/preadmit explain 1":                               "/preadmit explain 1",
		"/preadmit explain 999999\r\n":                      "/preadmit explain 999999",
		"":                                                  "",
		"\n/preadmit rescan":                                "",
		" /preadmit rescan":                                 "",
		"> /preadmit rescan":                                "",
		"`/preadmit rescan`":                                "",
		"please /preadmit rescan":                           "",
		"/Preadmit rescan":                                  "",
		"/preadmit  rescan":                                 "",
		"/preadmit\trescan":                                 "",
		"/preadmit rescan 0123abc":                          "/preadmit rescan 0123abc",
		"/preadmit rescan " + strings.Repeat("a", 40):       "/preadmit rescan " + strings.Repeat("a", 40),
		"/preadmit rescan " + strings.Repeat("a", 41):       "",
		"/preadmit rescan 0123ab":                           "",
		"/preadmit rescan 0123ABC":                          "",
		"/preadmit rescan 0123abc 0123abc":                  "",
		"/preadmit rescan now":                              "",
		"/preadmit rescan\x00":                              "",
		"/preadmit rescan\u00a0":                            "",
		"/preadmit rescan\r/preadmit":                       "",
		"/preadmit":                                         "",
		"/preadmit explain":                                 "",
		"/preadmit explain ":                                "",
		"/preadmit explain 0":                               "",
		"/preadmit explain 01":                              "",
		"/preadmit explain -1":                              "",
		"/preadmit explain +1":                              "",
		"/preadmit explain 1.0":                             "",
		"/preadmit explain 1 2":                             "",
		"/preadmit explain 1000000":                         "",
		"/preadmit explain ١":                               "",
		"/preadmit explain $(id)":                           "",
		"/preadmit explain " + strings.Repeat("9", 100_000): "",
	} {
		if got := parseCommand(comment); got != want {
			t.Errorf("%.60q is the command %.60q, want %q", comment, got, want)
		}
	}
}

// TestNames checks that names in subjects, URLs and pages consist of permitted characters.
func TestNames(t *testing.T) {
	t.Parallel()
	zeros, ones := strings.Repeat("0", 40), strings.Repeat("1", 40)
	for _, test := range []struct {
		what string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{"name", isName, []string{"o", "Octo-Cat_1", ".github", "a.b", strings.Repeat("n", 100)},
			[]string{"", ".", "..", "a b", "a/b", "a\n", "ä", "a:b", "a\x00", "a?", "a\xff", strings.Repeat("n", 101)}},
		{"object name", isObjectName, []string{ones, strings.Repeat("a", 64), oldHead},
			[]string{"", zeros, strings.Repeat("0", 64), ones[1:], ones + "1", strings.Repeat("A", 40), strings.Repeat("g", 40), "\n" + ones[1:], strings.Repeat("é", 20)}},
		{"branch", isBranch, []string{"refs/heads/main", "refs/heads/a/b-c_d.1", "refs/heads/ümlaut", "refs/heads/gh-readonly-queue/main/pr-1-" + ones},
			[]string{"", "main", "refs/heads/", "refs/tags/v1", "refs/heads/a..b", "refs/heads/a b", "refs/heads/a\n", "refs/heads/a:b", "refs/heads/-x",
				"refs/heads/a@{1}", `refs/heads/a\b`, "refs/heads/a\xff", "refs/heads/" + strings.Repeat("b", 250)}},
	} {
		for _, s := range test.yes {
			if !test.is(s) {
				t.Errorf("%q is no %s", s, test.what)
			}
		}
		for _, s := range test.no {
			if test.is(s) {
				t.Errorf("%q is a %s", s, test.what)
			}
		}
	}
}
