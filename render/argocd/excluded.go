package argocd

import (
	"fmt"
	"slices"

	"github.com/gobwas/glob"

	"github.com/preadmit/preadmit/render"
)

// alwaysExcluded are the kinds that every Argo CD ignores (util/settings/resources_filter.go).
var alwaysExcluded = []render.ResourceFilter{
	{APIGroups: []string{"events.k8s.io", "metrics.k8s.io"}},
	{APIGroups: []string{""}, Kinds: []string{"Event"}},
	{APIGroups: []string{"coordination.k8s.io"}, Kinds: []string{"Lease"}},
}

// isExcluded reports whether Argo CD ignores an object because of its kind.
func (u *unit) isExcluded(content map[string]any) bool {
	application := u.root.Unit.Application
	group, _, kind := groupKindOf(content)
	server := u.app.Spec.Destination.Server
	if server == "" && u.app.Spec.Destination.Name == InCluster {
		server = InClusterServer
	}
	matches := func(f render.ResourceFilter) bool {
		return anyMatches(f.APIGroups, group) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, "*") || slices.Contains(f.Kinds, kind)) && anyMatches(f.Clusters, server)
	}
	switch {
	case slices.ContainsFunc(alwaysExcluded, matches), slices.ContainsFunc(application.Exclusions, matches):
		return true
	case slices.ContainsFunc(application.Inclusions, matches):
		return false
	}
	return slices.ContainsFunc(application.Inclusions, func(f render.ResourceFilter) bool { return anyMatches(f.Clusters, server) })
}

// anyMatches reports whether one of the patterns matches, or there are none.
func anyMatches(patterns []string, text string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		g, err := glob.Compile(pattern)
		return err == nil && g.Match(text)
	})
}

// excluded returns the diagnostic for an ignored object.
func (u *unit) excluded(id identity) render.Diagnostic {
	return render.Diagnostic{
		Severity: render.SeverityWarning, Position: u.written(u.app.SourceField(0)),
		Message: fmt.Sprintf("%s/%s %s is of a kind that Argo CD is set to leave alone: it is not applied (ExcludedResourceWarning)", id.group, id.kind, id.name),
	}
}
