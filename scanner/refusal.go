package scanner

import (
	"context"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/mistyped"
	"github.com/preadmit/preadmit/scanner/admission/refusal"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/secrets"
	"github.com/preadmit/preadmit/scanner/policy/written"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// refused returns the finding for an object that the API server would not accept as it is written.
func refused(p target.Pair, answer *apierrors.StatusError) lines.Finding {
	f := refusedFor(p, answer)
	if len(f.Fields) == 0 {
		f.Fields = refusal.FieldsOfPlugin(answer.ErrStatus.Message, p.Object().Content())
	}
	return f
}

// refusedFor returns the finding for an object that the API server would not accept, with the fields that it names.
func refusedFor(p target.Pair, answer *apierrors.StatusError) lines.Finding {
	status := answer.ErrStatus
	f := schemaFinding(p, report.ActionDeny, status.Message)
	f.Reason = string(status.Reason)
	var causes []metav1.StatusCause
	if status.Details != nil {
		causes = status.Details.Causes
	}
	if len(causes) == 0 || causes[0].Field == "patch" {
		f.Fields = mistyped.Fields(status.Message, p.Object().Content(), p.Object().Unknown)
	}
	if len(f.Fields) > 0 {
		return f
	}
	for _, cause := range causes {
		cause.Field = refusal.Written(cause, p.Object().Content())
		switch {
		case cause.Field == "" || cause.Field == "<nil>":
		case p.Base != nil && p.Head != nil:
			f.Fields = append(f.Fields, lines.FieldsAtFault(cause, p.Base.Content(), p.Head.Content())...)
		default:
			f.Fields = append(f.Fields, cause.Field)
		}
	}
	return f
}

// refusedBy returns the finding for an object that the API server would not accept after mutating policies changed
// it, or because one of them failed.
func refusedBy(p target.Pair, v *server.Verdict) lines.Finding {
	f := refusedFor(p, v.Refusal)
	if len(v.Mutations) == 0 {
		f = refused(p, v.Refusal)
	}
	f.Mutations = [][]mutation.Write{v.Mutations}
	if v.RefusedBy != nil {
		f.Cause, f.Policy, f.Binding, f.Decider = report.CauseError, v.RefusedBy.Name, v.Binding, v.RefusedBy.Source
	}
	return f
}

// sourcesOf returns the policies that changed an object, each once.
func sourcesOf(changes []mutation.Write) []*admission.Object {
	var all []*admission.Object
	for i := range changes {
		if o := changes[i].Policy.Source; !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return all
}

// warned returns the finding for a warning of the API server itself.
func warned(p target.Pair, text string) lines.Finding {
	f := schemaFinding(p, report.ActionWarn, text)
	if field := warnedField(text); field != "" {
		f.Fields = []string{field}
	}
	return f
}

func schemaFinding(p target.Pair, action report.Action, message string) lines.Finding {
	return lines.Finding{Finding: report.Finding{
		Action: action, Actions: []report.Action{action}, Cause: report.CauseSchema,
		Message: secrets.ConcealFor(message, p.Base, p.Head, p.Live), Operation: string(p.Operation()),
	}, Subject: p.Object(), Key: p.Key}
}

// warnedField returns the field of a warning: quoted by the decoder (`unknown field "spec.x"`), or before a colon in
// warnings of the registry. Deprecation warnings are about apiVersion, or about an annotation that they name.
func warnedField(text string) string {
	if m := quotedField.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := deprecatedAnnotation.FindStringSubmatch(text); m != nil {
		return origin.AppendKey("metadata.annotations", m[1])
	}
	field, _, ok := strings.Cut(text, ": ")
	switch {
	case ok && leadingField.MatchString(field):
		return field
	case strings.Contains(text, "deprecated"):
		return "apiVersion"
	}
	return ""
}

// isLoss reports whether a warning means that a written field has no effect, or that another line overrides it.
func isLoss(warning string) bool { return quotedField.MatchString(warning) }

var (
	quotedField = regexp.MustCompile(`^(?:unknown|duplicate) field "([^"]+)"`)
	// deprecatedAnnotation matches warnings of Ingresses (pkg/registry/networking/ingress) and Services (pkg/api/service).
	deprecatedAnnotation = regexp.MustCompile(`^annotation "?([^" ]+)"? is deprecated`)
	leadingField         = regexp.MustCompile(`^(?:spec|metadata|data|status)[A-Za-z0-9_.\-\[\]/"]*$`)
)

// policy reports whether the API server would refuse the creation, update or deletion of a policy or binding, and its
// warnings. Policies do not judge policies.
func (r *review) policy(ctx context.Context) error {
	if r.Same {
		return nil
	}
	if r.Head == nil {
		return r.policyRights(ctx)
	}
	after, before, err := r.policyAnswers(ctx)
	if err != nil {
		return err
	}
	refusal, isRefused := findRefusal(r.Refusals, r.Head)
	old, existed := findRefusal(r.RefusalsBefore, r.Base)
	refusal, old = inClientWords(refusal, after), inClientWords(old, before)
	switch {
	case isRefused && refusal.Unknown:
		r.indeterminate(gaps.Object, "", refusal.Message)
	case isRefused:
		r.add(malformed(r.Pair, refusal), existed && old.Message == refusal.Message)
	case existed && !old.Unknown:
		r.resolve(malformed(r.Pair, old))
	}
	if after.Unserved && !isRefused { // preadmit reads versions that no server serves any more
		r.add(refused(r.Pair, after.Refusal), before.Unserved)
	}
	r.server(server.Verdict{Dropped: after.Dropped, Warnings: after.Warnings}, &server.Verdict{Dropped: before.Dropped, Warnings: before.Warnings})
	if isRefused {
		return nil
	}
	return r.policyRights(ctx)
}

// inClientWords returns the refusal of a policy or binding, with the words of clients if the server does not serve it.
func inClientWords(refusal policy.Refusal, v server.Verdict) policy.Refusal {
	if v.Unserved {
		refusal.Message, refusal.Reason, refusal.Fields = v.Refusal.ErrStatus.Message, v.Refusal.ErrStatus.Reason, []string{"apiVersion"}
	}
	return refusal
}

// policyRights reports whether the API server would refuse a policy or binding because the user lacks a right: to
// change policies, or to read their params. It does so only if all RBAC objects are known. Loading the policies does
// not check this, since the author of the policies in force is unknown.
func (r *review) policyRights(ctx context.Context) error {
	if !r.Proposed.Cluster().KnowsRBAC() {
		return nil
	}
	request := r.request()
	if r.assumed {
		request.Applier = ""
	}
	v, err := r.Proposed.Review(ctx, request)
	if err == nil && v.Refusal != nil && !v.Unserved {
		r.add(refused(r.Pair, v.Refusal), false)
	}
	return err
}

// policyAnswers returns the server's answers to the creation of a policy or binding at head and at base. Their
// warnings are, for example, about unknown fields.
func (r *review) policyAnswers(ctx context.Context) (after, before server.Verdict, err error) {
	request := admission.ClientRequest{Operation: apiserver.Create, User: r.user, Object: r.Head}
	if !r.assumed {
		request.Applier = r.applier
	}
	if after, err = r.Proposed.Review(ctx, request); err != nil {
		return after, before, err
	}
	r.capture(&after, string(r.Operation()), nil)
	if r.Base != nil {
		request.Object = r.Base
		before, err = r.Before.Review(ctx, request)
	}
	return after, before, err
}

func findRefusal(refusals []policy.Refusal, o *admission.Object) (policy.Refusal, bool) {
	for _, refusal := range refusals {
		if o != nil && change.Equal(refusal.Object, o) {
			return refusal, true
		}
	}
	return policy.Refusal{}, false
}

// malformed returns the finding for a policy or binding that the API server would not accept.
func malformed(p target.Pair, refusal policy.Refusal) lines.Finding {
	f := schemaFinding(p, report.ActionDeny, refusal.Message)
	f.Cause, f.Reason, f.Fields = report.CausePolicy, string(refusal.Reason), refusal.Fields
	o := p.Object()
	if kinds.IsBinding(o.GroupVersionKind().GroupKind()) {
		f.Policy, f.Binding = written.BoundPolicy(o), o.Name()
	} else {
		f.Policy = o.Name()
	}
	return f
}
