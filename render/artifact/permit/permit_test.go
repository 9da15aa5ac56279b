package permit

import (
	"errors"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/lock"
)

func git(url string) artifact.Artifact { return artifact.Artifact{Kind: artifact.Git, URL: url} }

func TestPattern(t *testing.T) {
	chart := artifact.Artifact{Kind: artifact.Chart, URL: "oci://ghcr.io/org/charts", Name: "app"}
	for _, test := range []struct {
		pattern string
		a       artifact.Artifact
		want    bool
	}{
		{"https://github.com/org/*", git("https://github.com/org/repo"), true},
		{"https://github.com/org/*", git("https://github.com/org/repo.git"), true},
		{"https://GitHub.com/org/*", git("https://github.COM/org/repo"), true},
		{"https://github.com/org/repo", git("https://github.com/org/repo/"), true},
		{"https://github.com/org/*", git("https://github.com/org/a/b"), false},
		{"https://github.com/org/*", git("https://github.com/orgs/repo"), false},
		{"https://github.com/org/*", git("https://github.com/org"), false},
		{"https://github.com/org/*", git("https://github.com.evil.com/org/repo"), false},
		{"https://github.com/org/*", git("https://evil.com/https://github.com/org/repo"), false},
		{"https://github.com/org/*", git("https://github.com:8443/org/repo"), false},
		{"https://github.com/org/**", git("https://github.com/org/../evil/repo"), false},
		{"https://github.com/org/**", git("https://github.com/org/%2e%2e/evil"), false},
		{"https://github.com/org/**", git("https://github.com/org/./repo"), false},
		{"https://github.com/**", git("https://github.com/any/thing"), true},
		{"https://github.com/org/**", git("https://github.com/org/a/b/c"), true},
		{"https://github.com/org/**", git("https://github.com/org"), false},
		{"https://github.com/org/a", git("ssh://github.com/org/a"), false},
		{"ssh://github.com/org/*", git("git@github.com:org/repo.git"), true},
		{"ssh://github.com/org/*", git("ssh://git@github.com/org/repo"), true},
		{"ssh://github.com/org/*", git("git@github.com:other/repo"), false},
		{"oci://ghcr.io/org/charts/app", chart, true},
		{"oci://ghcr.io/org/charts/*", chart, true},
		{"oci://ghcr.io/org/charts", chart, false},
		{"https://example.com/a.yaml", artifact.Artifact{Kind: artifact.File, URL: "https://example.com/a.yaml?x=1"}, true},
	} {
		p, err := ParsePattern(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Matches(test.a); got != test.want {
			t.Errorf("%s of %s is %v", test.pattern, test.a, got)
		}
	}
	for _, bad := range []string{"", "github.com/a", "http://a/b", "https://", "https://*/a", "https://*.a.com/b", "https://u@a/b", "https://a/**/b", "https://a/[b", "https:///a"} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is a pattern", bad)
		}
	}
}

func TestDecide(t *testing.T) {
	pin := func(c string) artifact.Pin { return artifact.Pin{Digest: "sha256:" + strings.Repeat(c, 64)} }
	locked := func(a artifact.Artifact, c string) *lock.Lock {
		l := &lock.Lock{}
		l.Set(a, pin(c))
		return l
	}
	a := git("https://github.com/org/repo")
	allow, err := ParsePattern("https://github.com/org/*")
	if err != nil {
		t.Fatal(err)
	}
	named := map[artifact.Artifact]bool{a: true}
	for _, test := range []struct {
		name  string
		rules Rules
		want  string // the content, "any" or "" for refused
	}{
		{"nothing is known", Rules{}, ""},
		{"locked at base", Rules{Base: locked(a, "a")}, "a"},
		{"locked alike", Rules{Base: locked(a, "a"), Head: locked(a, "a")}, "a"},
		{"moved by the change", Rules{Base: locked(a, "a"), Head: locked(a, "b")}, ""},
		{"moved by the change, allowed", Rules{Base: locked(a, "a"), Head: locked(a, "b"), Allow: []Pattern{allow}}, "b"},
		{"moved by an approved change", Rules{Base: locked(a, "a"), Head: locked(a, "b"), Trusted: true}, "b"},
		{"taken out of the lock", Rules{Base: locked(a, "a"), Head: &lock.Lock{}}, "a"},
		{"locked by the change", Rules{Head: locked(a, "b")}, ""},
		{"locked by the change, named at base", Rules{Head: locked(a, "b"), Named: named}, ""},
		{"named at base", Rules{Named: named}, "any"},
		{"locked by the change, allowed", Rules{Head: locked(a, "b"), Allow: []Pattern{allow}}, "b"},
		{"new and allowed", Rules{Allow: []Pattern{allow}}, "any"},
		{"new and approved", Rules{Trusted: true}, "any"},
		{"another is locked", Rules{Base: locked(git("https://github.com/org/other"), "a")}, ""},
		{"another version is locked", Rules{Base: locked(artifact.Artifact{Kind: artifact.Git, URL: a.URL, Version: "v1"}, "a")}, ""},
	} {
		got, known, err := test.rules.Decide(a)
		refused := new(RefusedError)
		switch {
		case test.want == "" && !errors.As(err, &refused):
			t.Errorf("%s: %v, %v", test.name, got, err)
		case test.want == "any" && (err != nil || known):
			t.Errorf("%s: %v, %v, %v", test.name, got, known, err)
		case len(test.want) == 1 && (err != nil || !known || got != pin(test.want)):
			t.Errorf("%s: %v, %v, %v", test.name, got, known, err)
		}
		if in := test.rules.Permitted(); len(test.want) == 1 {
			if found, _ := in.Find(a); found != pin(test.want) {
				t.Errorf("%s: %v is permitted", test.name, found)
			}
		} else if _, ok := in.Find(a); ok {
			t.Errorf("%s: it is permitted", test.name)
		}
	}
}
