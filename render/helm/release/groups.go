package release

import (
	"bytes"
	"path"
	"strings"
	"unicode"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"
)

// Groups are the API groups that the texts of a chart and its dependencies name.
type Groups struct {
	// MayDefine is set when templates may define custom kinds.
	MayDefine bool
	// Named are texts like names of groups, Asked those beside questions for what the cluster serves.
	Named, Asked map[string]bool
}

// groupsOf finds the groups that a chart names.
func groupsOf(c *helmchart.Chart) *Groups {
	g := &Groups{Named: map[string]bool{}, Asked: map[string]bool{}}
	g.read(c)
	return g
}

func (g *Groups) read(c *helmchart.Chart) {
	for _, f := range c.Raw {
		switch dir, _, _ := strings.Cut(f.Name, "/"); {
		case dir == "crds" || dir == "charts" || path.Base(f.Name) == "README.md":
			continue
		case dir == "templates" || dir == "files":
			g.MayDefine = g.MayDefine || bytes.Contains(f.Data, []byte("CustomResourceDefinition"))
		}
		AddGroups(f.Data, g.Named)
		for line := range bytes.Lines(f.Data) {
			if bytes.Contains(line, []byte("APIVersions")) {
				AddGroups(line, g.Asked)
			}
		}
	}
	for _, dependency := range c.Dependencies() {
		g.read(dependency)
	}
}

// AddGroups adds the words of a text that have dots in them, as API groups have.
func AddGroups(text []byte, words map[string]bool) {
	for start := 0; start < len(text); {
		end, dot := start, false
		for end < len(text) && (text[end] == '-' || text[end] == '.' || text[end] < unicode.MaxASCII && (unicode.IsLower(rune(text[end])) || unicode.IsDigit(rune(text[end])))) {
			dot = dot || text[end] == '.'
			end++
		}
		if word := bytes.Trim(text[start:end], "."); dot && bytes.IndexByte(word, '.') > 0 && !words[string(word)] {
			words[string(word)] = true
		}
		start = end + 1
	}
}
