package argocd

import (
	"context"

	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/origin"
)

// originsOf returns where the objects of a release were written: in the templates of a chart of the
// tree, else where the source is named.
func (h *helmPart) originsOf(*release.Rendered) originsOf {
	return func(context.Context) ([]*origin.Origin, error) { return nil, nil }
}
