package scanner

import (
	"context"
	"regexp"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiserver "k8s.io/apiserver/pkg/admission"
)

// refused is the finding for an object the API server would not accept.
func (p pair) refused(refusal *apierrors.StatusError) lines.Finding {
	status := refusal.ErrStatus
	f := p.schema(report.ActionDeny, status.Message)
	f.Reason = string(status.Reason)
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if cause.Field != "" && cause.Field != "<nil>" {
				f.Fields = append(f.Fields, cause.Field)
			}
		}
	}
	return f
}

// warned is the finding for a warning of the API server's own.
func (p pair) warned(text string) lines.Finding {
	f := p.schema(report.ActionWarn, text)
	if field := warnedField(text); field != "" {
		f.Fields = []string{field}
	}
	return f
}

func (p pair) schema(action report.Action, message string) lines.Finding {
	return lines.Finding{Finding: report.Finding{
		Action: action, Actions: []report.Action{action}, Cause: report.CauseSchema,
		Message: policy.ConcealFor(message, p.base, p.head), Operation: string(p.operation()),
	}, Subject: p.object(), Key: p.key}
}

// warnedField is the field a warning is about: quoted by the decoder (`unknown
// field "spec.x"`), or in front of a colon as the registry's warnings have it.
// Deprecations are about the version.
func warnedField(text string) string {
	if m := quotedField.FindStringSubmatch(text); m != nil {
		return m[1]
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

// isLoss reports whether a warning says that something written takes no effect, or
// not the effect it has on its own line.
func isLoss(warning string) bool { return quotedField.MatchString(warning) }

var (
	quotedField  = regexp.MustCompile(`^(?:unknown|duplicate) field "([^"]+)"`)
	leadingField = regexp.MustCompile(`^(?:spec|metadata|data|status)[A-Za-z0-9_.\-\[\]/"]*$`)
)

// policy reports whether the API server would refuse a policy or binding that is
// created or updated, and what it would warn about. No policy judges policies.
func (r *review) policy(ctx context.Context) error {
	if r.head == nil || r.same {
		return nil
	}
	refusal, refused := findRefusal(r.refusals, r.head)
	old, existed := findRefusal(r.refusalsBefore, r.base)
	switch {
	case refused:
		r.add(r.malformed(refusal), existed && old.Message == refusal.Message)
	case existed:
		r.resolve(r.malformed(old))
	}
	return r.policyWarnings(ctx)
}

// policyWarnings reports warnings about unknown fields and the like. Versions that
// are read though no server serves them any more have none.
func (r *review) policyWarnings(ctx context.Context) error {
	ask := admission.Ask{Operation: apiserver.Create, User: r.user, Object: r.head}
	after, err := r.proposed.Review(ctx, ask)
	if err != nil {
		return err
	}
	var before server.Verdict
	if r.base != nil {
		ask.Object = r.base
		if before, err = r.before.Review(ctx, ask); err != nil {
			return err
		}
	}
	r.server(server.Verdict{Warnings: after.Warnings}, &server.Verdict{Warnings: before.Warnings})
	return nil
}

func findRefusal(refusals []policy.Refusal, o *admission.Object) (policy.Refusal, bool) {
	for _, refusal := range refusals {
		if o != nil && change.Equal(refusal.Object, o) {
			return refusal, true
		}
	}
	return policy.Refusal{}, false
}

// malformed is the finding for a policy or binding the API server would not accept.
func (p pair) malformed(refusal policy.Refusal) lines.Finding {
	f := p.schema(report.ActionDeny, refusal.Message)
	f.Cause, f.Reason, f.Fields = report.CausePolicy, string(refusal.Reason), refusal.Fields
	o := p.object()
	if o.GroupVersionKind().GroupKind() == kinds.Policy {
		f.Policy = o.Name()
	} else {
		f.Policy, f.Binding = policy.BoundPolicy(o), o.Name()
	}
	return f
}
