package flux

import (
	"context"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// Origins implements Source. It builds the root once more.
func (s *Source) Origins(ctx context.Context, result *render.Result) ([]*origin.Origin, error) {
	u, problem := s.prepare(result.Root)
	if problem != nil {
		return nil, problem
	}
	inner := u.inner.Render(ctx, u.asKustomization())
	if inner.Problem != nil {
		return nil, u.realProblem(inner.Problem)
	}
	built, err := u.inner.Origins(ctx, inner)
	if err != nil {
		return nil, err
	}
	origins := make([]*origin.Origin, 0, len(built))
	for i, o := range inner.Objects {
		if !isKustomizeConfig(o) {
			origins = append(origins, built[i])
		}
	}
	return origins, nil
}
