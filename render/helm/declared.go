package helm

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
)

// Declared returns what the release of a root defines and requires of the cluster, as far as it is known.
func (s *Source) Declared(root render.Root) render.Declared {
	none := render.Declared{Mentions: func(string) bool { return false }}
	if s.problem(root) != nil {
		return none
	}
	c := s.chartOf(root)
	if c.err != nil {
		return none
	}
	go c.words() // needed next
	texts := [][]byte{root.Unit.Object}
	for _, reference := range root.Unit.Release.References {
		texts = append(texts, []byte(reference.Data))
	}
	d := c.chart.Groups().Declared(texts...)
	if root.Unit.Release.Install != "Skip" {
		in := &installed{Source: s, root: root, chart: c}
		var user map[string]any
		if h, err := release.ParseHelmRelease(root.Unit.Object); err == nil {
			user, _ = in.values(h, nil) // rendering reports errors
		}
		d.Definitions = c.chart.Definitions(user)
	}
	return d
}
