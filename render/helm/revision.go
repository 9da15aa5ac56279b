package helm

import (
	"bytes"
	"context"
	"slices"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/tree"
)

// An upgrade increments the revision of a release, which templates see as .Release.Revision: only the cluster
// knows it.
const (
	otherRevision  = 3
	revisionReason = "it follows from the number of the revision (.Release.Revision), which only the cluster has"
)

// revisionUnknown reports whether the release is upgraded and its templates may read the revision.
func (in *installed) revisionUnknown() bool {
	u := in.root.Unit
	return u.Release.Upgrade && (mentionsRevision(u.Object) || mentionsRevisionIn(in.chart.chart.Chart) ||
		slices.ContainsFunc(u.Release.References, func(r render.Reference) bool { return mentionsRevision([]byte(r.Data)) }))
}

func mentionsRevision(text []byte) bool { return bytes.Contains(text, []byte("Revision")) }

// mentionsRevisionIn reports whether a template or the values of a chart, or of a dependency, contain
// Revision: values may be templates.
func mentionsRevisionIn(c *helmchart.Chart) bool {
	return slices.ContainsFunc(c.Templates, func(f *common.File) bool { return mentionsRevision(f.Data) }) ||
		mentionsRevision(tree.Encode(c.Values)) || slices.ContainsFunc(c.Dependencies(), mentionsRevisionIn)
}

// markRevision marks the fields that depend on the revision, found by rendering with another one.
func (in *installed) markRevision(ctx context.Context, rendered *release.Rendered) error {
	other := *in
	other.revision = otherRevision
	varied, err := other.once(ctx, in.root.Unit.Object, nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		rendered.MarkAll(revisionReason)
	default:
		rendered.Vary(varied, revisionReason)
	}
	return nil
}
