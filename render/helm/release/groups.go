package release

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render"
)

// Groups are the API groups that the texts of a chart and its dependencies name.
type Groups struct {
	// MayDefine is set when templates may define custom kinds.
	MayDefine bool
	// Named are texts that look like API groups, Tested those on lines that test which kinds the cluster
	// serves. If such a line names no group, because it comes from a template or a value, Elsewhere is set,
	// and Tested has all groups followed by a version.
	Named, Tested map[string]bool
	Elsewhere     bool
}

// groupsOf returns the groups that a chart names.
func groupsOf(c *helmchart.Chart) *Groups {
	g := &Groups{Named: map[string]bool{}, Tested: map[string]bool{}}
	versioned := map[string]bool{}
	g.read(c, versioned)
	if g.Elsewhere {
		maps.Copy(g.Tested, versioned)
	}
	return g
}

func (g *Groups) read(c *helmchart.Chart, versioned map[string]bool) {
	for _, f := range c.Raw {
		switch dir, _, _ := strings.Cut(f.Name, "/"); {
		case dir == "crds" || dir == "charts" || path.Base(f.Name) == "README.md":
			continue
		case dir == "templates" || dir == "files":
			g.MayDefine = g.MayDefine || bytes.Contains(f.Data, []byte("CustomResourceDefinition"))
		}
		addGroups(f.Data, g.Named)
		addVersioned(f.Data, versioned)
		for line := range bytes.Lines(f.Data) {
			if bytes.Contains(line, []byte("APIVersions")) {
				addGroups(line, g.Tested)
				g.Elsewhere = g.Elsewhere || !hasVersion.Match(line)
			}
		}
	}
	for _, dependency := range c.Dependencies() {
		g.read(dependency, versioned)
	}
}

// Declared returns the chart's requirements with values from these texts, and whether it may define custom
// kinds.
func (g *Groups) Declared(values ...[]byte) render.Declared {
	own, asked := map[string]bool{}, maps.Clone(g.Tested)
	for _, text := range values {
		addGroups(text, own)
		if g.Elsewhere {
			addVersioned(text, asked)
		}
	}
	return render.Declared{
		May: g.MayDefine, DependsOn: slices.Sorted(maps.Keys(asked)),
		Mentions: func(group string) bool { return g.Named[group] || own[group] },
	}
}

// hasVersion matches an API group before a version.
var hasVersion = regexp.MustCompile(`[a-z0-9]/v[0-9]`)

// addVersioned adds the words of a text that contain dots and are followed by a version.
func addVersioned(text []byte, words map[string]bool) {
	for rest := text; ; {
		at := bytes.Index(rest, []byte("/v"))
		if at < 0 {
			return
		}
		if at+2 < len(rest) && rest[at+2] >= '0' && rest[at+2] <= '9' {
			start := at
			for start > 0 && isOfGroup(rest[start-1]) {
				start--
			}
			addGroups(rest[start:at], words)
		}
		rest = rest[at+2:]
	}
}

func isOfGroup(c byte) bool {
	return c == '-' || c == '.' || c < unicode.MaxASCII && (unicode.IsLower(rune(c)) || unicode.IsDigit(rune(c)))
}

// addGroups adds the words of a text that contain dots, as API groups do.
func addGroups(text []byte, words map[string]bool) {
	for start := 0; start < len(text); {
		end, dot := start, false
		for end < len(text) && isOfGroup(text[end]) {
			dot = dot || text[end] == '.'
			end++
		}
		if word := bytes.Trim(text[start:end], "."); dot && bytes.IndexByte(word, '.') > 0 && !words[string(word)] {
			words[string(word)] = true
		}
		start = end + 1
	}
}
