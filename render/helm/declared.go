package helm

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
)

// declared has the custom kinds that a chart defines.
type declared struct {
	may bool
	// words are texts like names of API groups, asked those beside questions for what the
	// cluster serves.
	words, asked map[string]bool
}

// Declared returns what the release of a root is known to define and to ask for.
func (s *Source) Declared(root render.Root) render.Declared {
	none := render.Declared{Mentions: func(string) bool { return false }}
	if s.problem(root) != nil {
		return none
	}
	c := s.chartOf(root)
	if c.err != nil {
		return none
	}
	chart := c.declared()
	own := map[string]bool{}
	dotted(root.Unit.Object, own)
	for _, reference := range root.Unit.Release.References {
		dotted([]byte(reference.Data), own)
	}
	d := render.Declared{May: chart.may, Asks: slices.Sorted(maps.Keys(chart.asked)), Mentions: func(group string) bool { return chart.words[group] || own[group] }}
	if root.Unit.Release.Install != "Skip" {
		in := &installed{Source: s, root: root, chart: c}
		var user map[string]any
		if h, err := release.ParseHelmRelease(root.Unit.Object); err == nil {
			user, _ = in.values(h, nil) // rendering says what is wrong
		}
		d.Definitions = c.chart.Definitions(user)
	}
	return d
}

// declare finds out what a chart says.
func declare(c *release.Chart) *declared {
	d := &declared{words: map[string]bool{}, asked: map[string]bool{}}
	d.read(c.Chart)
	return d
}

// read reads the texts of a chart and its dependencies.
func (d *declared) read(c *helmchart.Chart) {
	for _, f := range c.Raw {
		switch dir, _, _ := strings.Cut(f.Name, "/"); {
		case dir == "crds" || dir == "charts" || path.Base(f.Name) == "README.md":
			continue
		case dir == "templates" || dir == "files":
			d.may = d.may || bytes.Contains(f.Data, []byte("CustomResourceDefinition"))
		}
		dotted(f.Data, d.words)
		for line := range bytes.Lines(f.Data) {
			if bytes.Contains(line, []byte("APIVersions")) {
				dotted(line, d.asked)
			}
		}
	}
	for _, dependency := range c.Dependencies() {
		d.read(dependency)
	}
}

// dotted adds the words of a text that have dots in them, as API groups have.
func dotted(text []byte, words map[string]bool) {
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
