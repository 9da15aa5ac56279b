package policy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/warning"

	"github.com/preadmit/preadmit/scanner/admission"
)

// Verdict is the API server's answer to a request, as clients and the audit log see it.
type Verdict struct {
	Allowed bool
	// Code is the HTTP status of a refusal.
	Code    int32
	Reason  metav1.StatusReason
	Message string
	// Warnings are the texts of the Warning headers, in order.
	Warnings []string
	// AuditAnnotations are the annotations that policies add to the audit event.
	AuditAnnotations map[string]string
}

// Refused returns the verdict on a request that the server refuses before it evaluates policies (the
// error of admission.Cluster.Prepare). ok is false for errors that no server returns.
func Refused(err error, warned []string) (v Verdict, ok bool) {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return Verdict{}, false
	}
	s := status.ErrStatus
	return Verdict{Code: s.Code, Reason: s.Reason, Message: s.Message, Warnings: warningHeaders(warned)}, true
}

// Verdict returns the server's answer to a judged request. warned are the warnings issued before
// policies are evaluated. Where the server chooses at random, among several denials, the first in the
// order of names is used.
func (o *Outcome) Verdict(req *admission.Request, warned []string) Verdict {
	v := Verdict{Allowed: true, AuditAnnotations: o.annotations()}
	if refused, ok := Refused(o.Refusal, nil); ok {
		v.Allowed, v.Code, v.Reason, v.Message = false, refused.Code, refused.Reason, refused.Message
	}
	texts := append([]string(nil), warned...)
	for i := range o.Decisions {
		d := &o.Decisions[i]
		for _, action := range d.Actions {
			switch {
			case action == v1.Warn:
				texts = append(texts, fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", d.Policy.Name, d.Binding.Name, d.Message))
			case action == v1.Deny && v.Allowed:
				v.deny(req, d)
			}
		}
	}
	v.Warnings = warningHeaders(texts)
	return v
}

func (v *Verdict) deny(req *admission.Request, d *Decision) {
	v.Allowed = false
	v.Reason, v.Code = d.Reason, code(d.Reason)
	v.Message = denial(req, d)
}

// denial returns the server's message for a decision.
func denial(req *admission.Request, d *Decision) string {
	text := fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", d.Policy.Name, d.Message)
	if d.Binding != nil {
		text = fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", d.Policy.Name, d.Binding.Name, d.Message)
	}
	return k8sadmission.NewForbidden(req, errors.New(text)).Error()
}

// code returns the HTTP status of a reason (validating.reasonToCode).
func code(reason metav1.StatusReason) int32 {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity
}

// FailureAnnotation is the audit annotation of failed validations whose binding has the action Audit.
const FailureAnnotation = "validation.policy.admission.k8s.io/validation_failure"

// annotations returns the outcome's annotations and the first failure with the action Audit: a
// request has one such annotation, and the server refuses to set it again. A value that was truncated
// within a character is repaired, since the log is JSON.
func (o *Outcome) annotations() map[string]string {
	all := map[string]string{}
	for key, value := range o.AuditAnnotations {
		all[key] = string([]rune(value))
	}
	if failures := o.AuditFailures(); len(failures) > 0 {
		all[FailureAnnotation] = failures[0]
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// AuditFailures returns the possible values of FailureAnnotation, in the order of decisions.
func (o *Outcome) AuditFailures() []string {
	var values []string
	for i := range o.Decisions {
		d := &o.Decisions[i]
		if !slices.Contains(d.Actions, v1.Audit) {
			continue
		}
		value, err := utiljson.Marshal([]validating.ValidationFailureValue{{
			Message: d.Message, Policy: d.Binding.Spec.PolicyName, Binding: d.Binding.Name,
			ExpressionIndex: max(d.Validation, 0), ValidationActions: d.Binding.Spec.ValidationActions,
		}})
		if err == nil {
			values = append(values, string(value))
		}
	}
	return values
}

// warningHeaders returns the warnings that a client receives, by the server's own filter: it drops
// repeated and unprintable ones and truncates them when they are many.
func warningHeaders(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	w := headers{}
	filters.WithWarningRecorder(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for _, text := range texts {
			warning.AddWarning(r.Context(), "", text)
		}
	})).ServeHTTP(w, (&http.Request{URL: &url.URL{}}).WithContext(context.Background()))
	parsed, _ := utilnet.ParseWarningHeaders(http.Header(w)["Warning"])
	sent := make([]string, len(parsed))
	for i, h := range parsed {
		sent[i] = h.Text
	}
	return sent
}

// headers is a ResponseWriter that keeps only the headers.
type headers http.Header

func (h headers) Header() http.Header         { return http.Header(h) }
func (h headers) Write(b []byte) (int, error) { return len(b), nil }
func (h headers) WriteHeader(int)             {}
