package scanner

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
)

// InputError is a mistake in what the user gave to a scan - a glob, a path of the
// configuration, a file of policies - as opposed to a scan that failed.
type InputError struct {
	// What names the input as the user gave it.
	What string
	Err  error
}

func (e *InputError) Error() string { return e.What + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the input.
func (e *InputError) Unwrap() error { return e.Err }

// loadExtras renders the files given beside the trees. They are the user's own
// input, so what cannot be read of them is a mistake, not a finding.
func (s *scan) loadExtras(ctx context.Context) error {
	for _, extra := range s.in.Extra {
		objects, err := s.loadExtra(ctx, extra)
		if err != nil {
			return &InputError{What: extra.Name, Err: err}
		}
		s.extras = append(s.extras, objects...)
	}
	return nil
}

func (s *scan) loadExtra(ctx context.Context, extra Extra) ([]*admission.Object, error) {
	from, err := s.openSide(ctx, extra.Name, Tree{FS: extra.FS}, render.NewRenderer(extra.FS, s.in.Render), nil)
	if err != nil {
		return nil, err
	}
	from.extra = true
	for _, d := range from.found.Diagnostics {
		d.Path = from.location(d.Path)
		s.diagnose(report.Diagnostic{Severity: string(d.Severity), Message: d.Message, Location: ptr(locationOf(d.Position, headTree))})
	}
	objects := []*admission.Object{}
	for _, root := range from.found.Roots {
		r := from.render(ctx, root)
		if r.Problem != nil {
			return nil, fmt.Errorf("render: %s", Concealed(extra.FS, r.Problem))
		}
		objects = append(objects, r.objects...)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("no Kubernetes objects there")
	}
	return objects, nil
}

// location is the path of a file of the side for readers: that of the tree, for
// an extra the path the user gave.
func (s *side) location(file string) string {
	if !s.extra {
		return file
	}
	name := strings.TrimSuffix(s.name, "/")
	if path.Base(name) == file {
		return name
	}
	return path.Join(name, file)
}

func ptr[T any](v T) *T { return &v }
