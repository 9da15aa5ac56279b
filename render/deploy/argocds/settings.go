package argocds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/argocd"
	"github.com/preadmit/preadmit/render/argocd/settings"
)

// Settings are the settings of an Argo CD. The zero value means that the repository has none.
type Settings struct {
	settings.Settings
	// Known is set if the repository has the settings. Why is the reason if it has some that are not known.
	Known bool
	Why   string
	// Root is the root with the settings.
	Root render.RootID
}

// Set applies settings to an Application. tracking and buildOptions are those of the configuration and take precedence
// unless empty.
func (s Settings) Set(a *render.Application, tracking, buildOptions string) {
	a.Unsettled = s.Why
	if err := s.Apply(a, tracking, buildOptions); err != nil {
		a.Unsettled = fmt.Sprintf("the ConfigMap %s is not valid: %v", settings.Name, err)
	}
	a.Settled = (s.Known || buildOptions != "") && a.Unsettled == ""
}

// Same reports whether two settings have the same effect on Applications.
func (s Settings) Same(other Settings) bool {
	return s.Settings.Same(&other.Settings) && s.Why == other.Why
}

// Mentions returns the mentions by which a root may render settings.
func Mentions() []render.Mention {
	return []render.Mention{{Kind: "ConfigMap", Text: settings.Name}, {Group: argocd.Group, Kind: settings.OperatorKind}}
}

// In returns the different settings in the results of roots: those in a namespace, or if there are none, all.
func In(roots []render.Root, rendered map[render.RootID]*render.Result, namespace string) []Settings {
	var results []*render.Result
	for _, root := range roots {
		results = append(results, rendered[root.RootID])
	}
	own, others := in(results, func(in string) bool { return in == namespace }), in(results, func(in string) bool { return in != namespace })
	if len(own) > 0 {
		return own
	}
	for _, r := range results {
		if r.Problem != nil || r.Lacks != nil {
			id := r.Root.RootID
			others = append(others, Settings{Why: fmt.Sprintf("%s, which may have settings of Argo CD, does not render whole", id), Root: id})
		}
	}
	return others
}

func in(results []*render.Result, namespaces func(string) bool) (all []Settings) {
	for _, r := range results {
		for _, o := range r.Objects {
			if !bytes.Contains(o.JSON, []byte(settings.Name)) && !bytes.Contains(o.JSON, []byte(settings.OperatorKind)) {
				continue
			}
			var header struct {
				APIVersion, Kind string
				Metadata         struct{ Name, Namespace string }
			}
			if json.Unmarshal(o.JSON, &header) != nil || !namespaces(header.Metadata.Namespace) {
				continue
			}
			switch {
			case header.APIVersion == "v1" && header.Kind == "ConfigMap" && header.Metadata.Name == settings.Name:
				all = add(all, r.Root.RootID, o, settings.Parse)
			case strings.HasPrefix(header.APIVersion, argocd.Group+"/") && header.Kind == settings.OperatorKind:
				all = add(all, r.Root.RootID, o, settings.ParseOperator)
			}
		}
	}
	return all
}

// add appends the settings of an object of a root, unless the same ones are already there.
func add(all []Settings, root render.RootID, o *render.Object, parse func(json.RawMessage) (settings.Settings, error)) []Settings {
	parsed, err := parse(o.JSON)
	s := Settings{Settings: parsed, Known: true, Root: root}
	unknown := slices.Clone(o.Unknown)
	if root.Object == (render.ObjectRef{}) { // somebody applies it, with or without substitution
		unknown = append(unknown, o.Variables()...)
	}
	unknown = slices.DeleteFunc(unknown, func(u render.Unknown) bool { return !settings.Decides(u.Path) })
	switch {
	case len(unknown) > 0:
		s = Settings{Why: fmt.Sprintf("the settings of Argo CD in %s are not known: %s", root, unknown[0].Reason), Root: root}
	case err != nil:
		s = Settings{Why: fmt.Sprintf("the settings of Argo CD in %s cannot be read: %v", root, err), Root: root}
	}
	if slices.ContainsFunc(all, s.Same) {
		return all
	}
	return append(all, s)
}

// One returns the settings that count. If there are several different ones, or one that is not known, they are not known.
func One(all []Settings) (s Settings) {
	unknown := slices.IndexFunc(all, func(s Settings) bool { return s.Why != "" })
	switch {
	case unknown >= 0:
		s = all[unknown]
	case len(all) == 1:
		s = all[0]
	case len(all) > 1:
		s.Why, s.Root = fmt.Sprintf("%s and %s have settings of Argo CD that differ, and which count is not known", all[0].Root, all[1].Root), all[0].Root
	}
	return s
}

// Remark returns a message about what is assumed of the settings of the Argo CD of a cluster; empty for none. applied
// is set if its root is applied.
func (s Settings) Remark(cluster string, applied bool) string {
	switch {
	case s.Why != "":
		return fmt.Sprintf("Applications of %s are rendered as if Argo CD had no settings: %s; argocd in the configuration may have them", cluster, s.Why)
	case s.Known && !applied && !s.IsDefault():
		return fmt.Sprintf("Argo CD is taken to have the settings of %s, which nothing in the repository applies", s.Root)
	}
	return ""
}
