package refusal

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ordered sorts the errors of a refusal. A server finds errors of a map (labels, properties of a
// schema, limits) by iterating over it in random order; here these are sorted by name. All others
// keep their order. object returns the refused object.
func Ordered(err error, custom bool, object func() map[string]any) error {
	var refusal *apierrors.StatusError
	if !errors.As(err, &refusal) {
		return err
	}
	status := *refusal.ErrStatus.DeepCopy()
	if status.Details == nil || len(status.Details.Causes) == 0 {
		status.Message = orderedLimits(status.Message)
		return &apierrors.StatusError{ErrStatus: status}
	}
	prefix, _, _ := strings.Cut(status.Message, invalid)
	if status.Message != prefix+invalid+aggregate(status.Details.Causes) {
		return err
	}
	claimsOf(object()).number(status.Details.Causes)
	sortRuns(status.Details.Causes, custom)
	status.Message = prefix + invalid + aggregate(status.Details.Causes)
	return &apierrors.StatusError{ErrStatus: status}
}

// invalid is the text of apierrors.NewInvalid between an object and its errors.
const invalid = " is invalid: "

// aggregate formats errors like k8s.io/apimachinery/pkg/util/errors.
func aggregate(causes []metav1.StatusCause) string {
	var texts []string
	for _, c := range causes {
		if text := c.Field + ": " + c.Message; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// sortRuns sorts consecutive errors that come from the same map.
func sortRuns(causes []metav1.StatusCause, custom bool) {
	for start := 0; start < len(causes); {
		origin := mapOf(causes[start], custom)
		end := start + 1
		for end < len(causes) && origin != "" && mapOf(causes[end], custom) == origin {
			end++
		}
		slices.SortStableFunc(causes[start:end], func(a, b metav1.StatusCause) int {
			return cmp.Or(strings.Compare(fieldOf(a), fieldOf(b)), strings.Compare(culprit(a), culprit(b)))
		})
		start = end
	}
}

// namedIndex matches a map key in the path of a field.
var namedIndex = regexp.MustCompile(`\[[^\]]*[^\]0-9][^\]]*\]`)

// requiredValue matches the error about a key that must have another value
// (k8s.io/kubernetes/pkg/apis/core/validation, ValidateHasLabel).
var requiredValue = regexp.MustCompile(`^Invalid value: .*: must be '[^']*'$`)

// plainMap matches a field whose errors do not name the key.
var plainMap = regexp.MustCompile(`(^|\.)([lL]abels|[aA]nnotations|matchLabels|nodeSelector|selector)$`)

// mapOf returns the map that an error comes from, "" if there is none. Validation of a custom
// resource walks its schema, and then its rules.
func mapOf(c metav1.StatusCause, custom bool) string {
	if strings.HasPrefix(c.Field, podSecurity) {
		return "" // each label is looked up
	}
	ofSchema := custom && !strings.HasPrefix(c.Field, "metadata.") // its maps are walked with its schema
	if at := namedIndex.FindStringIndex(c.Field); at != nil && !ofSchema {
		if at[1] == len(c.Field) && (c.Type == metav1.CauseTypeFieldValueRequired || requiredValue.MatchString(c.Message)) {
			return "" // keys that are looked up have a fixed order
		}
		return c.Field[:at[0]]
	}
	switch {
	case plainMap.MatchString(c.Field) && strings.HasPrefix(c.Message, "Invalid value: "):
		return c.Field
	case custom && c.Field == "<nil>" && !Incomplete(c):
		return "schema" // the message has the field
	case !custom || c.Field == "<nil>" || strings.HasPrefix(c.Field, "metadata.") && !strings.Contains(c.Message, inBody):
		return ""
	case strings.Contains(c.Message, inBody) || c.Type != metav1.CauseTypeFieldValueInvalid && c.Type != metav1.CauseTypeFieldValueDuplicate && c.Type != metav1.CauseTypeForbidden:
		return "schema"
	}
	return "rules"
}

// Incomplete reports whether an error says that rules were not checked because of other errors.
func Incomplete(c metav1.StatusCause) bool {
	return strings.HasSuffix(c.Message, "to complete validation")
}

// podSecurity is the beginning of fields in errors of the PodSecurity plugin about a Namespace.
const podSecurity = "metadata.labels[pod-security.kubernetes.io/"

// inBody is in all schema errors about an invalid value.
const inBody = " in body "

// inMessage matches the field in the message of an error without one: about a value of a custom resource that
// must match one, all or none of several schemas, or about a number that its type cannot represent.
var inMessage = regexp.MustCompile(`^Invalid value: .*: (?:"([^"]+)" must (?:not )?validate |\w+ value must be of type .* in (\S+)$)`)

// fieldOf returns the field of an error. Errors about one value keep their order.
func fieldOf(c metav1.StatusCause) string {
	if at := inMessage.FindStringSubmatch(c.Message); c.Field == "<nil>" && at != nil {
		return at[1] + at[2]
	}
	return c.Field
}

// culprit returns the value that an error about a map is about; errors about the same value keep
// their order.
func culprit(c metav1.StatusCause) string {
	if fieldOf(c) == "<nil>" {
		return c.Message
	}
	if !plainMap.MatchString(c.Field) {
		return ""
	}
	value, _, _ := strings.Cut(strings.TrimPrefix(c.Message, "Invalid value: "), ": ")
	return value
}

// With returns the refusal of an invalid object with only some of its causes.
func With(refusal *apierrors.StatusError, causes []metav1.StatusCause) *apierrors.StatusError {
	status := *refusal.ErrStatus.DeepCopy()
	prefix, _, _ := strings.Cut(status.Message, invalid)
	status.Details.Causes = slices.Clone(causes)
	status.Message = prefix + invalid + aggregate(causes)
	return &apierrors.StatusError{ErrStatus: status}
}
