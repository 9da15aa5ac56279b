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

// withCustomKinds are Capabilities of a cluster that serves every custom kind. The fields are those that templates see.
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

// seeing sets what templates see of the cluster.
func (r *Release) seeing(all common.Values) common.Values {
	if r.customKinds {
		all["Capabilities"] = &withCustomKinds{r.Capabilities.KubeVersion, servedKinds(r.Capabilities.APIVersions), r.Capabilities.HelmVersion}
	}
	return all
}

// sure is once, where an error counts as one of the chart only if it has the same error in a cluster that serves all custom
// kinds which it looks for, or what the cluster serves is known.
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

// looksForKinds reports whether templates of a chart or its dependencies look for what a cluster serves.
func looksForKinds(c *helmchart.Chart) bool {
	return slices.ContainsFunc(c.Raw, func(f *common.File) bool { return bytes.Contains(f.Data, []byte("APIVersions")) }) ||
		slices.ContainsFunc(c.Dependencies(), looksForKinds)
}
