package policy

import (
	"errors"
	"fmt"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy/cel"
)

const reasonInvalid = metav1.StatusReasonInvalid

// evaluation judges a request by one policy, binding and param (the server's validator).
type evaluation struct {
	*dispatch
	policy   *Policy
	binding  *Binding
	param    *admission.Object
	compiled *compiled
	version  *admission.Version
	resource schema.GroupVersionResource

	params     map[string]any
	paramSizes cel.Sizes
	// knownParams is params with an unknown.Value in place of each unknown value; nil when all values
	// are known.
	knownParams any
	why         []string
	// open describes the parts of the verdict that depend on unknown values.
	open []string

	// usage is the cost of the evaluation.
	usage usage
}

// prepare reads the param. It returns an error if the param is not known.
func (e *evaluation) prepare() error {
	if e.param == nil {
		return nil
	}
	read := e.engine.readParam(e.policy.Spec.ParamKind, e.param)
	if read.err != nil {
		return read.err
	}
	e.params, e.knownParams, e.paramSizes = read.content, read.known, read.sizes
	return nil
}

// run evaluates and adds failures to the outcome. A verdict that depends on something unknown is
// replaced by an indeterminate. silent is true if nothing was added.
func (e *evaluation) run(annotations *annotations) (silent bool) {
	decisions, published := e.validate()
	if len(e.why) > 0 {
		e.indeterminate(e.policy, e.binding, e.why[0])
		return false
	}
	for _, why := range e.open {
		e.indeterminate(e.policy, e.binding, why)
	}
	e.redact(decisions)
	e.outcome.Decisions = append(e.outcome.Decisions, decisions...)
	for _, a := range published {
		annotations.add(a.key, a.value)
	}
	return len(e.open)+len(decisions)+len(published) == 0
}

func (e *evaluation) validate() ([]Decision, []published) {
	if e.compiled.err != nil {
		return e.failAll(e.compiled.err), nil
	}
	if p := e.partial(false); p != nil {
		return p.validate()
	}
	if matches, err := e.matchConditions(); err != nil {
		return e.failAll(err), nil
	} else if !matches {
		return nil, nil
	}
	var decisions []Decision
	if !e.allHold() {
		var err error
		if decisions, err = e.validations(); err != nil {
			return e.failAll(err), nil
		}
	}
	published, errored, err := e.auditAnnotations(e.compiled, e.annotating)
	if err != nil {
		return e.failAll(err), nil
	}
	return append(decisions, errored...), published
}

// validations evaluates each validation by itself and returns the failures.
func (e *evaluation) validations() ([]Decision, error) {
	a := e.activation(true, e.resource, e.namespace().object)
	results, budget, err := a.evaluateAll(e.compiled.validations, celconfig.RuntimeCELCostBudget)
	e.outcome.Evaluations += len(e.compiled.validations)
	e.noteReads(a)
	if err != nil {
		return nil, err
	}
	messages, err := e.messages(results, budget)
	var decisions []Decision
	for i, r := range results {
		if d, failed := e.decide(i, r, at(messages, i), err); failed {
			d.Input = e.input(a)
			decisions = append(decisions, d)
		}
	}
	return decisions, nil
}

func at(results []result, i int) *result {
	if i < len(results) {
		return &results[i]
	}
	return nil
}

// activation binds the variables for a group of expressions.
func (e *evaluation) activation(withAuthorizer bool, resource schema.GroupVersionResource, namespace func() any) *activation {
	a := &activation{
		ctx:     e.ctx,
		request: func() map[string]any { return e.requestVariable(e.version.VersionedKind, resource) }, namespace: namespace,
		variables: e.compiled.variables, meter: &e.engine.compiler.spent, usage: &e.usage,
	}
	a.object, a.oldObject, a.params = orNull(e.version.Object), orNull(e.version.OldObject), orNull(e.params)
	if withAuthorizer {
		a.authorizers = &e.authorizers
	}
	return a
}

func orNull(content map[string]any) any {
	if content == nil {
		return nil
	}
	return content
}

type requestKey struct {
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
}

// requestVariable returns the `request` variable: an AdmissionRequest as content.
func (d *dispatch) requestVariable(kind schema.GroupVersionKind, resource schema.GroupVersionResource) map[string]any {
	key := requestKey{resource, kind}
	if content, ok := d.requests[key]; ok {
		return content
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d.admissionRequest(key))
	if err != nil {
		content = map[string]any{}
	}
	if d.requests == nil {
		d.requests = map[requestKey]map[string]any{}
	}
	d.requests[key] = content
	return content
}

// admissionRequest returns the request as a policy with a resource and kind sees it.
func (d *dispatch) admissionRequest(key requestKey) *admissionv1.AdmissionRequest {
	return plugincel.CreateAdmissionRequest(d.request, metav1.GroupVersionResource(key.resource), metav1.GroupVersionKind(key.kind))
}

// noteReads makes the verdict indeterminate if something unknown was read, or if a limit that no
// server has ended the evaluation.
func (e *evaluation) noteReads(a *activation) {
	if a.readNamespace && e.namespace().assumed {
		e.why = append(e.why, fmt.Sprintf("the policy reads namespaceObject, but nothing defines namespace %q; add it to the repository or give it with --context", e.request.GetNamespace()))
	}
	if a.denied && !e.authorizers.complete {
		e.why = append(e.why, "the policy asks the authorizer, and the RBAC objects that are known do not allow it, but the cluster may have others; say with complete under targets that the repository has all of them")
	}
	if a.workload.Excess() != "" {
		e.why = append(e.why, a.workload.Excess())
	}
	if a.circular != "" {
		e.why = append(e.why, fmt.Sprintf("variable %s is declared more than once and reads itself, which ends an API server", a.circular))
	}
}

// matchConditions reports whether the match conditions hold. Any false one takes precedence over
// errors (k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions). namespaceObject is null
// here, and request.resource is the one of the request.
func (e *evaluation) matchConditions() (bool, error) {
	if len(e.compiled.matchConditions) == 0 {
		return true, nil
	}
	a := e.activation(true, e.request.GetResource(), noNamespace)
	results, _, err := a.evaluateAll(e.compiled.matchConditions, celconfig.RuntimeCELCostBudgetMatchConditions)
	a.readNamespace = false // null on every server
	e.noteReads(a)
	if err != nil {
		return false, e.unlessIgnored(err)
	}
	var errs []error
	var failed plugincel.ExpressionAccessor
	for _, r := range results {
		switch {
		case r.err != nil:
			if errs = append(errs, r.err); failed == nil {
				failed = r.accessor
			}
		case r.value == celtypes.False:
			return false, nil
		}
	}
	if len(errs) > 0 {
		return false, e.unlessIgnored(&conditionError{utilerrors.NewAggregate(errs), failed.GetExpression(), e.input(a)})
	}
	return true, nil
}

// conditionError is the error of match conditions, with the first of them that failed and its input.
type conditionError struct {
	error
	expression string
	input      *Input
}

func (e *evaluation) unlessIgnored(err error) error {
	if failurePolicy(e.policy) == v1.Ignore {
		return nil
	}
	return err
}

// messages evaluates the message expressions. The server always does, and one that exhausts the
// budget fails validations that passed. They are skipped if nothing failed and the budget suffices in
// any case.
func (e *evaluation) messages(results []result, budget int64) ([]result, error) {
	failed := false
	for _, r := range results {
		failed = failed || r.err != nil || r.value != celtypes.True
	}
	if !failed && e.affordable(budget) {
		return nil, nil
	}
	a := e.activation(false, e.resource, e.namespace().object)
	messages, _, err := a.evaluateAll(e.compiled.messages, budget)
	if failed || a.workload.Excess() != "" {
		e.noteReads(a)
	}
	return messages, err
}

// affordable reports whether the budget covers all message expressions and
// variables even if each costs twice the limit of one call.
func (e *evaluation) affordable(budget int64) bool {
	n := int64(0)
	for _, m := range e.compiled.messages {
		if m.ExpressionAccessor != nil {
			n++
		}
	}
	if n == 0 {
		return true
	}
	return (n+int64(len(e.compiled.variables)))*2*celconfig.PerCallLimit < budget
}

// decide returns the decision of a failed validation; failed is false when it passed or failures are
// ignored.
func (e *evaluation) decide(i int, r result, message *result, messageErr error) (d Decision, failed bool) {
	validation := e.policy.Spec.Validations[i]
	d = e.decision(i, CauseError, validation.Expression)
	switch {
	case r.err != nil:
		d.Message = r.err.Error()
	case errors.Is(messageErr, apiservercel.ErrInternal) || errors.Is(messageErr, apiservercel.ErrOutOfBudget):
		d.Message = fmt.Sprintf("failed messageExpression: %s", messageErr)
	case r.value != celtypes.True:
		d.Cause = CauseValidation
		if validation.Reason != nil {
			d.Reason = *validation.Reason
		}
		d.Message = failureMessage(&validation, message)
		return d, true
	default:
		return d, false
	}
	return d, failurePolicy(e.policy) != v1.Ignore
}

func (e *evaluation) decision(validation int, cause Cause, expression string) Decision {
	return Decision{
		Policy: e.policy, Binding: e.binding, Param: e.param,
		Validation: validation, Cause: cause, Expression: expression,
		Reason: reasonInvalid, Actions: e.binding.Spec.ValidationActions,
	}
}

// failAll returns the decision about a policy whose evaluation failed as a whole.
func (e *evaluation) failAll(err error) []Decision {
	if failurePolicy(e.policy) == v1.Ignore {
		return nil
	}
	d := e.decision(-1, CauseError, "")
	d.Message = err.Error()
	var condition *conditionError
	if errors.As(err, &condition) {
		d.Expression, d.Input = condition.expression, condition.input
	}
	return []Decision{d}
}

// failureMessage returns the message of a failed validation: that of messageExpression if it is
// usable, else message, else the expression.
func failureMessage(v *v1.Validation, evaluated *result) string {
	if evaluated != nil && evaluated.err == nil && evaluated.value != nil {
		if text, ok := evaluated.value.Value().(string); ok {
			text = strings.TrimSpace(text)
			if text != "" && len(text) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(text, "\n") {
				return text
			}
		}
	}
	if text := strings.TrimSpace(v.Message); text != "" {
		return text
	}
	return "failed expression: " + strings.TrimSpace(v.Expression)
}

// published is a value of an audit annotation.
type published struct{ key, value string }

// annotating returns the activation for spec.auditAnnotations.
func (e *evaluation) annotating() *activation {
	return e.activation(false, e.resource, e.namespace().wholeObject)
}

// auditAnnotations evaluates spec.auditAnnotations. An error denies, whatever the validationActions,
// unless failures are ignored.
func (e *evaluation) auditAnnotations(programs *compiled, with func() *activation) (values []published, errored []Decision, err error) {
	if len(programs.auditAnnotations) == 0 {
		return nil, nil, nil
	}
	a := with()
	results, _, err := a.evaluateAll(programs.auditAnnotations, celconfig.RuntimeCELCostBudget)
	e.noteReads(a)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range results {
		if _, open := r.value.(*celtypes.Unknown); open {
			continue
		}
		condition := r.accessor.(*validating.AuditAnnotationCondition)
		value, err := annotationValue(condition, r)
		switch {
		case err != nil && (failurePolicy(e.policy) != v1.Ignore || r.err == nil):
			d := e.decision(-1, CauseError, condition.ValueExpression)
			d.Message, d.Actions, d.Input = err.Error(), []v1.ValidationAction{v1.Deny}, e.input(e.annotating())
			errored = append(errored, d)
		case err == nil && value != "":
			values = append(values, published{condition.Key, value})
		}
	}
	return values, errored, nil
}

// annotationValue returns the value of an annotation, "" when there is nothing to publish.
func annotationValue(c *validating.AuditAnnotationCondition, r result) (string, error) {
	if r.err != nil {
		return "", r.err
	}
	switch r.value.Type() {
	case celtypes.StringType:
		return strings.TrimSpace(r.value.Value().(string)), nil
	case celtypes.NullType:
		return "", nil
	}
	return "", fmt.Errorf("valueExpression '%v' resulted in unsupported return type: %v. Return type must be either string or null.", c.ValueExpression, r.value.Type())
}
