package scanner

import (
	"context"
	"fmt"

	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/target"
)

// InputError is a mistake in the user's input to a scan.
type InputError = change.InputError

// loadExtras renders the files given in addition to the trees. They are the user's own input, so a
// file that cannot be read is an error, not a finding.
func (s *scan) loadExtras(ctx context.Context) error {
	for _, extra := range s.in.Extra {
		objects, err := s.loadExtra(ctx, extra)
		if err != nil {
			return &InputError{What: extra.Name, Err: err}
		}
		if extra.Policies && len(change.OnlyPolicies(objects)) == 0 {
			s.ledger.Note(report.Diagnostic{
				Severity: "warning", Message: extra.Name + " was given as policies and has no ValidatingAdmissionPolicy and no binding",
			})
		}
		s.extras = append(s.extras, objects...)
		if !extra.Policies {
			s.exported = append(s.exported, objects...)
		}
		whole, err := target.CompleteKinds(extra.FS, ".")
		if err != nil {
			return &InputError{What: extra.Name, Err: err}
		}
		s.whole = append(s.whole, whole...)
	}
	return nil
}

func (s *scan) loadExtra(ctx context.Context, extra Extra) ([]*admission.Object, error) {
	how := change.Options{Rendering: s.in.Rendering}
	from, err := change.OpenSide(ctx, extra.Name, extra.FS, sources.NewRenderer(extra.FS, s.in.Render), how)
	if err != nil {
		return nil, err
	}
	from.Extra = true
	for _, d := range from.Found.Diagnostics {
		d.Path = from.Path(d.Path)
		s.ledger.Note(report.Diagnostic{Severity: string(d.Severity), Message: d.Message, Location: new(change.LocationOf(d.Position, change.Head))})
	}
	objects := []*admission.Object{}
	for _, root := range from.Found.Roots {
		r := from.Render(ctx, root)
		if r.Problem != nil {
			return nil, fmt.Errorf("render: %s", lines.Concealed(extra.FS, r.Problem))
		}
		objects = append(objects, r.Objects...)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("no Kubernetes objects there")
	}
	return objects, nil
}
