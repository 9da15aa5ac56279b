package lint

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// checkRefused reports what the API server would not create, field by field.
func checkRefused(_ context.Context, c *cluster) {
	for _, r := range c.refusals {
		if len(r.Causes) == 0 {
			c.add(remark{rule: report.RuleRefused, object: r.Object, message: r.Message, hint: "the API server refuses the object as a whole"})
		}
		for _, cause := range r.Causes {
			c.add(refusedField(r, cause))
		}
	}
}

func refusedField(r policy.Refusal, cause metav1.StatusCause) remark {
	line, column := celPosition(cause.Message)
	return remark{
		rule: report.RuleRefused, object: r.Object, fields: []string{cause.Field}, line: line, column: column,
		message: cause.Field + ": " + cause.Message,
		hint:    "the API server refuses to create it, so it has no effect",
	}
}

// celPosition is the line and column, from 1, that the compiler of expressions
// names first; 0 when it names none.
func celPosition(message string) (line, column int) {
	m := celError.FindStringSubmatch(message)
	if m == nil {
		return 0, 0
	}
	line, _ = strconv.Atoi(m[1]) // digits
	column, _ = strconv.Atoi(m[2])
	return line, column
}

var celError = regexp.MustCompile(`ERROR: <input>:(\d{1,9}):(\d{1,9}):`)

// checkServed reports versions that are not served, and what the API server warns
// of when it creates an object.
func checkServed(ctx context.Context, c *cluster) {
	for _, o := range c.linted {
		kind := o.GroupVersionKind()
		if _, ok := c.State.Resource(kind); !ok {
			c.add(remark{
				rule: report.RuleLegacyVersion, object: o, fields: []string{"apiVersion"},
				message: fmt.Sprintf("Kubernetes %s does not serve %s by default", admission.KubernetesVersion, kind.GroupVersion()),
				hint:    "write apiVersion: admissionregistration.k8s.io/v1",
			})
			continue
		}
		ask := admission.Ask{Operation: k8sadmission.Create, Object: o, User: c.User}
		_, warnings, _ := c.State.Prepare(ctx, ask) // refusals are another rule
		for _, text := range warnings {
			c.add(warned(o, text))
		}
	}
}

func warned(o *admission.Object, text string) remark {
	r := remark{rule: report.RuleServerWarning, object: o, message: text, hint: "the API server accepts the object with this warning"}
	if field := scanner.WarnedField(text); field != "" {
		r.fields = []string{field}
	}
	if strings.HasPrefix(text, "unknown field ") {
		r.hint = "the API server drops the field; correct its name or remove it"
	}
	return r
}

// checkTypes reports what status.typeChecking would say.
func checkTypes(ctx context.Context, c *cluster) {
	var checker *policy.TypeChecker
	for _, p := range c.policies {
		if !p.linted || ctx.Err() != nil {
			continue
		}
		if checker == nil {
			checker = policy.NewTypeChecker(c.State)
		}
		for _, w := range checker.Check(p.ValidatingAdmissionPolicy) {
			line, column := celPosition(w.Warning)
			c.add(remark{
				rule: report.RuleTypeCheck, object: p.Source, fields: []string{w.FieldRef}, line: line, column: column, message: w.Warning,
				hint: "status.typeChecking of the policy will say so; the API server accepts the policy all the same",
			})
		}
	}
}

// checkAccess reports what the author may not create, because it refers to params
// that the author may not read.
func checkAccess(ctx context.Context, c *cluster, author user.Info) error {
	check := func(o *admission.Object, obj runtime.Object) error {
		errs, err := c.State.ParamAccess(ctx, author, obj)
		for _, e := range errs {
			c.add(remark{
				rule: report.RuleParamAccess, object: o, fields: []string{e.Field}, message: e.Error(),
				hint: "give the user a role that allows it, or have another user create the object",
			})
		}
		return err
	}
	var errs []error
	for _, p := range c.policies {
		if p.linted && p.Spec.ParamKind != nil {
			errs = append(errs, check(p.Source, p.ValidatingAdmissionPolicy))
		}
	}
	for _, b := range c.bindings {
		if b.linted && b.Spec.ParamRef != nil {
			errs = append(errs, check(b.Source, b.ValidatingAdmissionPolicyBinding))
		}
	}
	return errors.Join(errs...)
}
