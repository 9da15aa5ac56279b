package unknown

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/refusal"
)

// Error says that an answer of the API server depends on fields that are not known.
type Error struct {
	// What depends on them.
	What   string
	Fields []render.Unknown
}

func (e *Error) Error() string {
	text := e.What + " depends on " + Which(&e.Fields[0])
	if len(e.Fields) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(e.Fields)-1)
	}
	return text
}

// Tolerate returns the refusal of an object without what is wrong with its unknown
// fields; nil when that was all.
func Tolerate(err error, fields []render.Unknown) error {
	var status *apierrors.StatusError
	if len(fields) == 0 || !errors.As(err, &status) || status.ErrStatus.Reason != metav1.StatusReasonInvalid || status.ErrStatus.Details == nil {
		return err
	}
	causes := status.ErrStatus.Details.Causes
	kept := slices.DeleteFunc(slices.Clone(causes), func(c metav1.StatusCause) bool { return At(Path(c.Field), fields) })
	switch {
	case len(kept) == len(causes):
		return err
	case len(kept) == 0:
		return nil
	}
	return refusal.With(status, kept)
}

// Settle says what can be said when some stand-ins are refused. accepted is the number of
// those that are not. The result is nil when the object may be accepted, an *Error when
// that depends on its unknown fields, and otherwise a refusal that does not.
func Settle(refusals []*apierrors.StatusError, accepted int, fields []render.Unknown) error {
	const what = "whether the API server accepts the object"
	if accepted > 0 {
		judged := func(r *apierrors.StatusError) bool { return r.ErrStatus.Code == http.StatusForbidden }
		if slices.ContainsFunc(refusals, judged) { // by a plugin; all else takes values for valid
			return &Error{What: what, Fields: fields}
		}
		return nil
	}
	first := refusals[0]
	if !slices.ContainsFunc(refusals, func(r *apierrors.StatusError) bool { return r.ErrStatus.Message != first.ErrStatus.Message }) && !mentions(first, fields) {
		return first
	}
	if common := commonCauses(refusals, fields); len(common) > 0 {
		return refusal.With(first, common)
	}
	return &Error{What: what, Fields: fields}
}

// mentions reports whether a refusal may be about an unknown field.
func mentions(r *apierrors.StatusError, fields []render.Unknown) bool {
	if r.ErrStatus.Details == nil || len(r.ErrStatus.Details.Causes) == 0 {
		return strings.Contains(r.ErrStatus.Message, "unknown-")
	}
	return slices.ContainsFunc(r.ErrStatus.Details.Causes, func(c metav1.StatusCause) bool { return relates(c, fields) })
}

// relates reports whether something wrong may be an unknown field's fault: it is said of
// what holds the field, of the field, or of one beside it, which may have to fit.
func relates(c metav1.StatusCause, fields []render.Unknown) bool {
	path := Path(c.Field)
	beside := func(f render.Unknown) bool {
		parent := f.Path[:max(0, len(f.Path)-1)]
		return len(parent) <= len(path) && slices.Equal(parent, path[:len(parent)])
	}
	return Below(path, fields) || slices.ContainsFunc(fields, beside) || strings.Contains(c.Message, "unknown-")
}

// commonCauses returns what is wrong with all stand-ins and not their fault.
func commonCauses(refusals []*apierrors.StatusError, fields []render.Unknown) []metav1.StatusCause {
	var common []metav1.StatusCause
	for i, r := range refusals {
		if r.ErrStatus.Details == nil {
			return nil
		}
		if i == 0 {
			common = slices.Clone(r.ErrStatus.Details.Causes)
		}
		common = slices.DeleteFunc(common, func(c metav1.StatusCause) bool {
			return relates(c, fields) || !slices.Contains(r.ErrStatus.Details.Causes, c)
		})
	}
	return common
}
