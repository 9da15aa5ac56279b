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

// Error is the error for a result of the API server that depends on unknown fields.
type Error struct {
	// What describes the result.
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

// Refusal is an API server's refusal of an object with stand-ins.
type Refusal struct {
	*apierrors.StatusError
	Object map[string]any
}

// Tolerate returns the refusal of an object with stand-ins without the errors about its unknown
// fields; nil when there are no others.
func Tolerate(err error, fields []render.Unknown, object map[string]any) error {
	var status *apierrors.StatusError
	if len(fields) == 0 || !errors.As(err, &status) || status.ErrStatus.Reason != metav1.StatusReasonInvalid || status.ErrStatus.Details == nil {
		return err
	}
	causes := status.ErrStatus.Details.Causes
	kept := slices.DeleteFunc(slices.Clone(causes), func(c metav1.StatusCause) bool { return At(Path(refusal.Written(c, object)), fields) })
	switch {
	case len(kept) == len(causes):
		return err
	case len(kept) == 0:
		return nil
	}
	return refusal.With(status, kept)
}

// Settle returns the common result if some stand-ins are refused. accepted is the number of those
// that are not. The result is nil when the object may be accepted, an *Error when that depends on its
// unknown fields, and otherwise a refusal that does not depend on them.
func Settle(refusals []Refusal, accepted int, fields []render.Unknown) error {
	const what = "whether the API server accepts the object"
	if accepted > 0 {
		judged := func(r Refusal) bool { return r.ErrStatus.Code == http.StatusForbidden }
		if slices.ContainsFunc(refusals, judged) { // by a plugin; other values are taken to be valid
			return &Error{What: what, Fields: fields}
		}
		return nil
	}
	if whole := slices.DeleteFunc(slices.Clone(refusals), incomplete); len(whole) > 0 {
		refusals = whole
	}
	first := refusals[0]
	if !slices.ContainsFunc(refusals, func(r Refusal) bool { return r.ErrStatus.Message != first.ErrStatus.Message }) && !mentions(first, fields) {
		return first.StatusError
	}
	if common := commonCauses(refusals, fields); len(common) > 0 {
		return refusal.With(first.StatusError, common)
	}
	return &Error{What: what, Fields: fields}
}

// incomplete reports whether a server did not validate all of an object.
func incomplete(r Refusal) bool {
	return r.ErrStatus.Details != nil && slices.ContainsFunc(r.ErrStatus.Details.Causes, refusal.Incomplete)
}

// mentions reports whether a refusal may be about an unknown field.
func mentions(r Refusal, fields []render.Unknown) bool {
	if r.ErrStatus.Details == nil || len(r.ErrStatus.Details.Causes) == 0 {
		return strings.Contains(r.ErrStatus.Message, "unknown-") || follows(metav1.StatusCause{Message: r.ErrStatus.Message}, fields) || r.counts(fields)
	}
	return slices.ContainsFunc(r.ErrStatus.Details.Causes, func(c metav1.StatusCause) bool { return relates(c, r.Object, fields) })
}

// counted are parts of the errors of plugins that evaluate a Pod or a claim as a whole: PodSecurity,
// LimitRanger and ResourceQuota.
var counted = []string{"violates PodSecurity ", " usage per ", " to request ratio per ", "must specify ", "exceeded quota: "}

// counts reports whether a refusal is by a plugin that evaluates an object as a whole, and a map or a list is
// unknown, for which there is only one stand-in. These plugins do not read labels.
func (r Refusal) counts(fields []render.Unknown) bool {
	return slices.ContainsFunc(counted, func(message string) bool { return strings.Contains(r.ErrStatus.Message, message) }) &&
		slices.ContainsFunc(fields, func(f render.Unknown) bool {
			switch render.ValueAt(r.Object, f.Path).(type) {
			case nil, map[string]any, []any:
				return !slices.Contains(f.Path, "labels")
			}
			return false
		})
}

// relates reports whether an unknown field may cause an error: the error is about the field, about a
// value that contains it, or about one beside it, which may have to match; or it says that not
// everything was validated.
func relates(c metav1.StatusCause, object map[string]any, fields []render.Unknown) bool {
	path := Path(refusal.Written(c, object))
	beside := func(f render.Unknown) bool {
		parent := f.Path[:max(0, len(f.Path)-1)]
		return len(parent) <= len(path) && slices.Equal(parent, path[:len(parent)])
	}
	return Below(path, fields) || slices.ContainsFunc(fields, beside) || follows(c, fields) || strings.Contains(c.Message, "unknown-") || refusal.Incomplete(c)
}

// sources are fields on which the validation of others depends that are not beside them. An error matches by
// its field, or by its text.
var sources = []struct {
	field, message string
	of             []string
}{
	{field: "spec.selector", of: []string{"spec", "template", "metadata", "labels"}}, // the default is the template's labels (k8s.io/kubernetes/pkg/apis/core/v1, SetDefaults_ReplicationController)
	{message: "compilation failed", of: []string{"spec", "variables"}},
	{message: "compilation failed", of: []string{"spec", "paramKind"}},
	{field: "metadata.name", message: "must be spec.names.plural", of: []string{"spec", "names"}}, // and the group, of a CustomResourceDefinition
	{field: "metadata.name", message: "must be spec.names.plural", of: []string{"spec", "group"}},
	{field: "status.storedVersions", of: []string{"spec", "versions"}},
	{message: "doesn't match RuntimeClass's defined Overhead", of: []string{"spec", "overhead"}},
}

// follows reports whether an error may follow from an unknown field elsewhere.
func follows(c metav1.StatusCause, fields []render.Unknown) bool {
	for _, s := range sources {
		if (s.field == "" || s.field == c.Field) && strings.Contains(c.Message, s.message) &&
			slices.ContainsFunc(fields, func(f render.Unknown) bool {
				n := min(len(f.Path), len(s.of))
				return slices.Equal(f.Path[:n], s.of[:n])
			}) {
			return true
		}
	}
	return false
}

// commonCauses returns the errors that all stand-ins have and do not cause.
func commonCauses(refusals []Refusal, fields []render.Unknown) []metav1.StatusCause {
	var common []metav1.StatusCause
	for i, r := range refusals {
		if r.ErrStatus.Details == nil {
			return nil
		}
		if i == 0 {
			common = slices.Clone(r.ErrStatus.Details.Causes)
		}
		common = slices.DeleteFunc(common, func(c metav1.StatusCause) bool {
			return relates(c, r.Object, fields) || !slices.Contains(r.ErrStatus.Details.Causes, c)
		})
	}
	return common
}
