package lines

import (
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/proof"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/controllers"
	"github.com/preadmit/preadmit/scanner/locate"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
)

// Finding is a finding with what it takes to locate it.
type Finding struct {
	report.Finding
	// Subject is what is judged, in the tree of the finding.
	Subject *admission.Object
	Key     admission.Key
	// Fields are paths of the fields at fault, the most telling first.
	Fields []string
	// Input is what a failed validation was evaluated on: the fields follow from it.
	Input *policy.Input
	// searched is set when fields of the subject were searched for: causes, which may be
	// none.
	searched bool
	causes   []cause
	// Decider is the policy that made the decision.
	Decider *admission.Object
	// Governing are the objects that made the decision, when the judged one did not
	// change.
	Governing []*admission.Object
	// fieldsErr is why the fields could not be found, unlocated why the lines could not.
	fieldsErr, Unlocated error
	// Lineage are the generated objects from the workload's own down to the one the
	// finding is about; fields and input are those of the last.
	Lineage []*controllers.Generated
	// Mutations are what policies changed by: the object itself, then each of Lineage.
	Mutations [][]mutation.Write
	// settled is set when Fields are those of what was written.
	settled bool
	// mutated are the expressions of policies that wrote fields of what was written.
	mutated map[string]expression
	// Located is set when Location is final but for its snippet.
	Located bool
	// Ask is the request that the finding is about, and Server what answers it; nil where there is none.
	Ask    *admission.Ask
	Server *server.Server
	// doubts are claims about the object that need proof (see prove).
	doubts []proof.Claim
}

// question is a failed validation with what it was evaluated on.
func (f *Finding) question() locate.Question {
	in := f.Input
	q := locate.Question{
		Expression: f.Expression, Variables: map[string]string{},
		Object: in.Object, OldObject: in.OldObject,
		Params: in.Params, Request: in.Request, Namespace: in.Namespace,
	}
	for _, v := range in.Variables {
		q.Variables[v.Name] = v.Expression
	}
	return q
}

// doubt notes a claim about the object of a finding if it needs proof.
func (f *Finding) doubt(c proof.Claim) {
	if c.Place.Evidence == origin.Inferred || c.Place.Evidence == origin.Removed {
		f.doubts = append(f.doubts, c)
	}
}

// doubted is the claim that the location of a finding rests on, if it needs proof.
func (f *Finding) doubted() (proof.Claim, bool) {
	for _, c := range f.doubts {
		if l := f.Location; c.Field == l.Field && c.Place.Line == l.StartLine && c.Place.Column == l.StartColumn &&
			change.OriginOf(f.Subject).Side.Path(c.Place.Path) == l.Path {
			return c, true
		}
	}
	return proof.Claim{}, false
}

// template is the field a generated object is written in as a whole; nil when the
// finding is about the workload itself.
func (f *Finding) template() []string {
	if f.Lineage == nil {
		return nil
	}
	return f.written([]string{"spec"})
}
