package server

import (
	"cmp"
	"context"

	"github.com/preadmit/preadmit/scanner/policy"
)

// Response returns a known verdict as a client and the audit log see it.
func (v *Verdict) Response() policy.Verdict {
	if v.Request == nil && v.Refusal == nil {
		return policy.Verdict{Allowed: true, Warnings: v.Warnings} // no policy matches
	}
	if v.Request == nil {
		refused, _ := policy.Refused(v.Refusal, v.Warnings)
		return refused
	}
	out := v.outcome()
	answer := out.Verdict(v.Request, v.Warnings)
	for _, late := range []error{v.notStored(), v.exists} {
		if refused, ok := policy.Refused(late, answer.Warnings); ok && answer.Allowed {
			refused.AuditAnnotations = answer.AuditAnnotations
			return refused
		}
	}
	return answer
}

// notStored returns NotStored as an error.
func (v *Verdict) notStored() error {
	if v.NotStored == nil {
		return nil
	}
	return v.NotStored
}

// Open returns the reasons why the answer is not known if no policy denies; none if it is known.
func (v *Verdict) Open() []string {
	if v.Unknown != nil {
		return []string{v.Unknown.Error()}
	}
	if v.NeverStored != nil {
		return []string{v.NeverStored.Error()}
	}
	var reasons []string
	if v.QuotaUnknown != nil {
		reasons = append(reasons, v.QuotaUnknown.Error())
	}
	for _, i := range v.Indeterminate {
		reasons = append(reasons, "policy "+i.Policy.Name+": "+i.Why)
	}
	return reasons
}

// Objects returns the object and the old object as policies see them in the version of the request;
// nil when there is none, or the request does not reach the policies.
func (v *Verdict) Objects() (object, oldObject map[string]any) {
	if v.Request == nil {
		return nil, nil
	}
	version, err := v.Request.Version(v.Request.GetKind())
	if err != nil {
		return nil, nil // every policy reports the error
	}
	return version.Object, version.OldObject
}

// Denials returns the responses that the server may give: it names one of the decisions that deny, in
// no fixed order of policies, bindings and params.
func (v *Verdict) Denials() []policy.Verdict {
	var all []policy.Verdict
	for i := range v.Decisions {
		if v.Decisions[i].Denies() {
			alone := v.ResponseTo(v.Decisions[i])
			alone.Warnings = nil
			all = append(all, alone)
		}
	}
	return all
}

// Redacted maps the texts of decisions in Response and Denials to texts that may be shown, without values
// of Secrets.
func (v *Verdict) Redacted() map[string]string {
	redacted := map[string]string{}
	for _, d := range v.Decisions {
		shown := d
		shown.Message = cmp.Or(d.Redacted, d.Message)
		raw, masked := v.ResponseTo(d), v.ResponseTo(shown)
		if !raw.Allowed {
			redacted[raw.Message] = masked.Message
		}
		for i, text := range raw.Warnings {
			if i < len(masked.Warnings) {
				redacted[text] = masked.Warnings[i]
			}
		}
	}
	return redacted
}

// ResponseTo returns the response to the request if a decision were the only one.
func (v *Verdict) ResponseTo(d policy.Decision) policy.Verdict {
	out := policy.Outcome{Decisions: []policy.Decision{d}}
	return out.Verdict(v.Request, nil)
}

// AuditFailures returns the possible values of the audit annotation of failed validations.
func (v *Verdict) AuditFailures() []string {
	out := v.outcome()
	return out.AuditFailures()
}

// Explain returns the values that the failed expression of a decision read; see
// policy.Engine.Explain.
func (v *Verdict) Explain(ctx context.Context, d *policy.Decision) (readings []policy.Reading, more bool, err error) {
	return v.engine.Explain(ctx, v.Request, d)
}

func (v *Verdict) outcome() policy.Outcome {
	out := policy.Outcome{Decisions: v.Decisions, AuditAnnotations: v.AuditAnnotations}
	if v.Refusal != nil {
		out.Refusal = v.Refusal
	}
	return out
}
