package argocd

import (
	"encoding/json"
	"path"
	"slices"

	overlaid "github.com/preadmit/preadmit/render/artifact/overlay"
)

// traceSources records the files of this repository for an Application that is not rendered, for example because a
// chart is missing: a change to them changes what is applied.
func (u *unit) traceSources() {
	var err error
	if u.root.Unit.Application == nil {
		return
	}
	if u.app, err = Parse(u.root.Unit.Object); err != nil {
		return
	}
	if h := u.app.Spec.SourceHydrator; h != nil {
		var dry struct {
			DrySource Source `json:"drySource"`
		}
		if json.Unmarshal(*h, &dry) == nil {
			u.tree.TraceBelow(path.Join(".", path.Clean("/" + dry.DrySource.Path)[1:]), u.trace)
		}
	}
	sources := u.app.AllSources()
	for i := range min(len(sources), len(u.root.Unit.Application.Sources)) {
		s, from := &sources[i], &u.root.Unit.Application.Sources[i]
		switch {
		case s.IsReference():
		case s.Chart == "" && from.Artifact == nil:
			if p, problem := u.part(i, s); problem == nil {
				addTrace(u.trace, p.needs().Trace)
			}
		default:
			h := &helmPart{&part{unit: u, index: i, source: s, from: from, top: ".", env: environmentOf(u.app, u.root.Unit.Application.Instance, s)}}
			h.traceValueFiles()
		}
	}
}

// traceValueFiles records the value files in this repository.
func (h *helmPart) traceValueFiles() {
	opts := h.options()
	all := slices.Clone(opts.ValueFiles)
	for _, p := range opts.FileParameters {
		all = append(all, p.Path)
	}
	for _, raw := range all {
		f, err := h.resolve(raw, "")
		if err != nil || f.url != "" || f.top == chartTop || overlaid.Under(f.name) {
			continue
		}
		names := []string{f.name}
		if f.isPattern() {
			names, _ = h.matching(f, h.trace)
		}
		for _, name := range names {
			h.tree.TraceFile(name, h.trace)
		}
	}
}
