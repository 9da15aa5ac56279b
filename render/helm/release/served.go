package release

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/engine"
	"github.com/preadmit/preadmit/render/scope"
)

// withCustomKinds are Capabilities of a cluster that serves every custom kind. Templates see the same fields.
type withCustomKinds struct {
	KubeVersion common.KubeVersion
	APIVersions servedKinds
	HelmVersion any
}

type servedKinds common.VersionSet

// Has reports whether a version of a group, or a kind in one, is served.
func (s servedKinds) Has(name string) bool {
	group, _, isGroup := strings.Cut(name, "/")
	return slices.Contains(s, name) || isGroup && strings.Contains(group, ".") && !scope.HasGroup(group)
}

// seeing sets the capabilities that templates see.
func (r *Release) seeing(all common.Values) common.Values {
	if r.customKinds {
		all["Capabilities"] = &withCustomKinds{r.Capabilities.KubeVersion, servedKinds(r.Capabilities.APIVersions), r.Capabilities.HelmVersion}
	}
	return all
}

// sure is once, but refuses the release if an error may depend on custom kinds that the chart looks for and
// that the cluster may serve: if the error differs in a cluster that serves all custom kinds.
func (r *Release) sure(ctx context.Context, opts engine.Options) (*Rendered, []engine.Chance, error) {
	rendered, chance, err := r.once(ctx, opts)
	p := new(Problem)
	if err == nil || r.KindsKnown || !errors.As(err, &p) || p.Refused || !looksForKinds(r.Chart.Chart) {
		return rendered, chance, err
	}
	other := *r
	other.customKinds = true
	_, _, then := other.once(ctx, opts)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if same := new(Problem); errors.As(then, &same) && same.Error() == p.Error() {
		return rendered, chance, err
	}
	unsure := *p
	unsure.Refused = true
	unsure.Message += ": whether the cluster serves the custom kinds that the chart looks for is not known"
	return nil, nil, &unsure
}

// looksForKinds reports whether the templates of a chart or its dependencies read which kinds a cluster
// serves.
func looksForKinds(c *helmchart.Chart) bool {
	return slices.ContainsFunc(c.Raw, func(f *common.File) bool { return bytes.Contains(f.Data, []byte("APIVersions")) }) ||
		slices.ContainsFunc(c.Dependencies(), looksForKinds)
}
