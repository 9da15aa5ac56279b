package lint

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preadmit/preadmit/scanner/admission"
)

// checkParamAccess reports objects that the author may not create, because they refer
// to params that the author may not read.
func checkParamAccess(ctx context.Context, c *cluster) {
	if c.author == nil {
		return
	}
	check := func(o *admission.Object, obj runtime.Object) error {
		denied, err := c.State.ParamAccess(ctx, c.author, obj)
		for _, e := range denied {
			c.add(remark{
				object: o, fields: []string{e.Field}, message: e.Error(),
				hint: "give the user a role that allows it, or have another user create the object",
			})
		}
		return err
	}
	var errs []error
	for _, p := range c.lintedPolicies() {
		if p.Spec.ParamKind != nil {
			errs = append(errs, check(p.Source, p.object()))
		}
	}
	for _, b := range c.lintedBindings() {
		if b.Spec.ParamRef != nil {
			errs = append(errs, check(b.Source, b.object()))
		}
	}
	c.err = errors.Join(errs...)
}

// object returns the API object of a policy.
func (p *policySubject) object() runtime.Object {
	if p.mutation != nil {
		return p.mutation.MutatingAdmissionPolicy
	}
	return p.ValidatingAdmissionPolicy
}

// object returns the API object of a binding.
func (b *bindingSubject) object() runtime.Object {
	if b.mutation != nil {
		return b.mutation.MutatingAdmissionPolicyBinding
	}
	return b.ValidatingAdmissionPolicyBinding
}
