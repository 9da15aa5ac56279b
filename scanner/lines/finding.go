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

// Finding is a finding with the data needed to locate it.
type Finding struct {
	report.Finding
	// Subject is the judged object, in the tree of the finding.
	Subject *admission.Object
	Key     admission.Key
	// Fields are the paths of the fields at fault, the most relevant first.
	Fields []string
	// Input is the input of the expression that failed, from which its fields are determined.
	Input *policy.Input
	// searched is set if the fields that decide the validation were searched for. causes are these
	// fields, possibly none.
	searched bool
	causes   []cause
	// Decider is the policy that made the decision.
	Decider *admission.Object
	// Governing are the objects that led to the decision, if the judged object did not change.
	Governing []*admission.Object
	// fieldsErr is the reason why the fields were not found, Unlocated why the lines were not.
	fieldsErr, Unlocated error
	// Lineage are the generated objects from the workload's own to the one that the finding is about.
	// Fields and Input refer to the last.
	Lineage []*controllers.Generated
	// Mutations are the writes of policies: to the object itself, then to each object of Lineage.
	Mutations [][]mutation.Write
	// settled is set if Fields are paths in the object as written.
	settled bool
	// mutated maps fields of the object as written to the policies' expressions that wrote them.
	mutated map[string]expression
	// Located is set if Location is final except for its snippet.
	Located bool
	// Request is the request that the finding is about, and Server the server that answers it; nil if there
	// is none.
	Request *admission.ClientRequest
	Server  *server.Server
	// unproven are claims about the object that need proof (see Prove).
	unproven []proof.Claim
}

// question returns a failed validation with its input.
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

// addUnproven records a claim about the object of a finding if it needs proof.
func (f *Finding) addUnproven(c proof.Claim) {
	if c.Place.Evidence == origin.Inferred || c.Place.Evidence == origin.Removed {
		f.unproven = append(f.unproven, c)
	}
}

// unprovenClaim returns the claim on which the location of a finding depends, if it needs proof.
func (f *Finding) unprovenClaim() (proof.Claim, bool) {
	for _, c := range f.unproven {
		if l := f.Location; c.Field == l.Field && c.Place.Line == l.StartLine && c.Place.Column == l.StartColumn &&
			change.OriginOf(f.Subject).Side.Path(c.Place.Path) == l.Path {
			return c, true
		}
	}
	return proof.Claim{}, false
}

// template returns the field with the generated object in the object as written; nil if the finding is
// about the workload itself.
func (f *Finding) template() []string {
	if f.Lineage == nil {
		return nil
	}
	return f.written([]string{"spec"})
}
