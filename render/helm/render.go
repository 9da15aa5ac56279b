package helm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/scope"
	"github.com/preadmit/preadmit/render/tree"
)

// render renders the release, and again if its chart's digest or its revision is unknown.
func (in *installed) render(ctx context.Context) (*release.Rendered, error) {
	rendered, err := in.varied(ctx)
	if err == nil && in.digestUnknown() {
		err = in.markDigest(ctx, rendered)
	}
	if err == nil && in.revisionUnknown() {
		err = in.markRevision(ctx, rendered)
	}
	return rendered, err
}

// varied renders the release, and again with stand-ins for unknown values.
func (in *installed) varied(ctx context.Context) (*release.Rendered, error) {
	rendered, err := in.once(ctx, in.root.Unit.Object, nil)
	if err == nil {
		in.kept.keep(in.root, rendered)
	}
	reason, whole := in.reason()
	if reason == "" || ctx.Err() != nil {
		return rendered, err
	}
	taken := 0 // number of scalar stand-ins that the chart accepts
	if err == nil {
		taken = 1
	}
	for _, s := range in.standIns() {
		if whole && rendered != nil || s.late && taken > 1 {
			break
		}
		other, failed := in.once(ctx, in.vary(s), &s)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case failed != nil:
			continue // the chart does not accept this value
		case rendered == nil: // it failed, perhaps because a value is unknown
			rendered = other
		default:
			rendered.Vary(other, reason)
		}
		if s.scalar {
			taken++
		}
	}
	switch {
	case rendered == nil:
		return nil, err
	case !whole && taken > 1:
		return rendered, nil
	case rendered.MakesNothing(): // no object could be marked unknown
		return nil, &release.Problem{Refused: true, Message: "which objects it makes is not known: " + reason}
	}
	rendered.MarkAll(reason)
	return rendered, nil
}

// once renders the release of a HelmRelease, with a stand-in for the unknown parts of references; if it is
// nil, references that are wholly unknown are left out.
func (in *installed) once(ctx context.Context, object json.RawMessage, unknown *standIn) (*release.Rendered, error) {
	h, err := release.ParseHelmRelease(object)
	if err != nil {
		return nil, err
	}
	user, err := in.values(h, unknown)
	if err != nil {
		return nil, err
	}
	of, err := in.releaseOf(h, user)
	if err != nil {
		return nil, err
	}
	if in.digest != "" || in.revision != 0 {
		return of.Once(ctx)
	}
	return of.Render(ctx)
}

// values returns the merged user-supplied values of the chart.
func (in *installed) values(h *release.HelmRelease, unknown *standIn) (map[string]any, error) {
	var references []values.Reference
	parts := map[string]int{} // the numbers of unknown parts
	for _, from := range in.root.Unit.Release.References {
		data := from.Data
		switch {
		case from.Unknown == "":
		case unknown == nil && len(from.Holds) > 0:
			data = dataOf(from)
		case len(from.Holds) > 0:
			data = from.With(func(part string) string {
				if _, known := parts[part]; !known {
					parts[part] = len(parts)
				}
				return unknown.of(parts[part])
			})
		case unknown == nil || from.TargetPath == "":
			continue
		default:
			data = unknown.text
		}
		references = append(references, values.Reference{
			Name: from.Object.String(), Data: []byte(data), TargetPath: from.TargetPath, Literal: from.Literal,
		})
	}
	user, err := h.Values(references)
	if err != nil {
		return nil, &release.Problem{Message: err.Error()}
	}
	return user, nil
}

// releaseOf returns the release of a HelmRelease with values.
func (in *installed) releaseOf(h *release.HelmRelease, user map[string]any) (*release.Release, error) {
	r := in.root.Unit.Release
	var served []string
	for _, d := range r.Definitions {
		served = append(served, d.APIVersions()...)
	}
	capabilities, err := values.ClusterCapabilities(r.KubeVersion, served)
	if err != nil {
		return nil, err
	}
	of := h.Release(in.chart.chart, user, capabilities, r.Upgrade)
	of.ChartVersion, of.Release.Revision = in.chartVersion(), in.revision
	of.Options.Lookup, of.KindsKnown = in.lookup, r.KindsKnown
	if in.kubeVersion != nil {
		of.Options.KubeVersionRead = &in.kubeVersion.Read
	}
	if r.Own {
		of.Labels, of.Plain = nil, true
	}
	of.SkipCRDs = r.Install == "Skip" && r.CRDs() == "Skip" // else the cluster has them already
	return of, nil
}

// objects returns the objects of the root: first definitions, then applied objects, then hooks.
func (in *installed) objects(rendered *release.Rendered) []*render.Object {
	h, err := release.ParseHelmRelease(in.root.Unit.Object)
	if err != nil {
		return nil // rendering parsed it before
	}
	scopes := in.scopes(rendered)
	var all []*render.Object
	add := func(o *release.Object, role render.Role) *render.Object {
		made := &render.Object{JSON: o.JSON, Index: len(all), Unknown: o.Unknown, Role: role}
		if o.Defines == nil { // a CustomResourceDefinition has no namespace
			made.JSON = inNamespace(o.JSON, h.ReleaseNamespace(), scopes)
		}
		all = append(all, made)
		return made
	}
	for _, o := range rendered.CRDs {
		add(o, render.RoleDefinition)
	}
	for _, o := range rendered.Objects {
		add(o, render.RoleObject)
	}
	for _, o := range rendered.Hooks {
		hook, runs := h.Hook(o, in.root.Unit.Release)
		if runs {
			add(o, render.RoleHook).Hook = hook
		} else {
			add(o, render.RoleIdleHook).Hook = hook
		}
	}
	for _, o := range rendered.Possible {
		add(o, render.RolePossible)
	}
	if n := namespaceOf(in.root.Unit); n != nil {
		n.Index = len(all)
		all = append(all, n)
	}
	return all
}

// kind is a kind and its group.
type kind struct{ group, kind string }

// scopes returns the known custom kinds, and whether they are namespaced.
func (in *installed) scopes(rendered *release.Rendered) map[kind]bool {
	known := map[kind]bool{}
	for _, d := range in.root.Unit.Release.Definitions {
		known[kind{d.Group, d.Kind}] = d.Namespaced
	}
	for _, o := range rendered.CRDs {
		if d := o.Defines; d != nil {
			known[kind{d.Group, d.Kind}] = d.Namespaced
		}
	}
	for _, o := range rendered.Objects {
		if d, ok := render.DefinitionOf(o.JSON); ok {
			known[kind{d.Group, d.Kind}] = d.Namespaced
		}
	}
	return known
}

// inNamespace sets the namespace of an object without one to that of its release, if its kind is known to be
// namespaced.
func inNamespace(text []byte, namespace string, scopes map[kind]bool) []byte {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if json.Unmarshal(text, &head) != nil || head.Metadata.Namespace != "" {
		return text
	}
	namespaced, known := scope.Namespaced(head.APIVersion, head.Kind)
	if !known {
		namespaced = scopes[kind{groupOf(head.APIVersion), head.Kind}]
	}
	if !namespaced {
		return text
	}
	content := (&render.Object{JSON: text}).Content()
	metadata, _ := content["metadata"].(map[string]any)
	if metadata == nil {
		return text
	}
	metadata["namespace"] = cmp.Or(namespace, "default")
	return tree.Encode(content)
}

func groupOf(apiVersion string) string {
	for i := range apiVersion {
		if apiVersion[i] == '/' {
			return apiVersion[:i]
		}
	}
	return ""
}

// reason returns why some values are unknown; "" when all are known. whole is set when any value may be
// unknown.
func (in *installed) reason() (reason string, whole bool) {
	var reasons []string
	add := func(text string) {
		for _, known := range reasons {
			if known == text {
				return
			}
		}
		reasons = append(reasons, text)
	}
	for _, u := range in.root.Unit.Release.Unknown {
		add(u.Reason)
		whole = whole || len(u.Path) <= 1
	}
	for _, r := range in.root.Unit.Release.References {
		if r.Unknown != "" {
			add(r.Unknown)
			whole = whole || r.TargetPath == "" && len(r.Holds) == 0
		}
	}
	switch len(reasons) {
	case 0:
		return "", false
	case 1:
		return "it follows from a value of the release that is not known: " + reasons[0], whole
	}
	return fmt.Sprintf("it follows from values of the release that are not known: %s, and %d more", reasons[0], len(reasons)-1), whole
}
