package scanner

import (
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/server"
)

// Capture determines which details of requests a report contains.
type Capture int

const (
	// CaptureNothing omits the requests.
	CaptureNothing Capture = iota
	// CaptureNames lists the requests and whether they are allowed.
	CaptureNames
	// CaptureObjects also includes the full responses and the objects as policies see them, Secrets
	// included.
	CaptureObjects
)

// capture records a request and the server's response. generated is the object that a controller
// creates, nil for all other requests.
func (r *review) capture(v *server.Verdict, operation string, generated *report.Object) {
	if r.answered != nil && generated == nil {
		r.answered(r, v)
	}
	if r.Capture == CaptureNothing {
		return
	}
	q := report.Request{
		Operation: operation, Subject: change.ObjectOf(r.Object(), r.Key), Generated: generated, Root: r.Root.String(), Target: r.Target,
	}
	answer := v.Response()
	q.Unknown = v.Open()
	if len(q.Unknown) == 0 || !answer.Allowed {
		q.Allowed, q.Unknown = new(answer.Allowed), nil
	}
	if r.Capture == CaptureObjects {
		q.Code, q.Reason, q.Message = int(answer.Code), string(answer.Reason), answer.Message
		q.Warnings, q.AuditAnnotations = answer.Warnings, answer.AuditAnnotations
		q.Object, q.OldObject = v.Objects()
	}
	r.out.captured = append(r.out.captured, q)
}
