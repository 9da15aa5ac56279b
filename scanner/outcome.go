package scanner

import (
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/target"
)

// outcome is the result of one or several reviews.
type outcome struct {
	requests, evaluations int
	captured              []report.Request
	findings              []lines.Finding
	// objects are the objects of the requests.
	objects map[objectID]bool
	gaps    []gaps.Gap
	// read is set if policies read or may read a part of the object that changes. It is only computed for
	// units with a changed chart version.
	read bool
	// reached is set if objects that decide verdicts on this object changed.
	reached bool
	// readOf are the units with an object for which read is set.
	readOf map[render.RootID]bool
	// remarks are warnings of the server without effect on the verdict, such as deprecations. They become
	// diagnostics.
	remarks []lines.Finding
	// rules are the policies and bindings that judged requests.
	rules policyNames
	// webhooks are the webhooks that match a request and refuse it if they do not respond.
	webhooks []report.Webhook
	// noPolicies has the reason why no policy judged; nil if one did.
	noPolicies *report.NoPolicies
}

// add adds the outcome of a review.
func (o *outcome) add(of outcome) {
	o.requests += of.requests
	o.evaluations += of.evaluations
	o.captured = append(o.captured, of.captured...)
	o.findings = append(o.findings, of.findings...)
	o.gaps = append(o.gaps, of.gaps...)
	o.remarks = append(o.remarks, of.remarks...)
	o.read, o.reached = o.read || of.read, o.reached || of.reached
}

// refusedPolicies returns how many policies an API server would not accept.
func (o *outcome) refusedPolicies() int {
	names := map[string]bool{}
	for _, f := range o.findings {
		if f.Cause == report.CausePolicy && f.Binding == "" && f.Status != report.StatusResolved {
			names[f.Policy] = true
		}
	}
	return len(names)
}

// refused adds findings about policies that an API server would not accept.
func (o *outcome) refused(policies []gaps.RefusedPolicy) {
	for _, p := range policies {
		f := malformed(target.Pair{Key: p.Key, Head: p.Object}, p.Refusal)
		f.Root, f.Status = p.Root.String(), p.Status
		o.findings = append(o.findings, f)
	}
}
