package lint

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	k8sadmission "k8s.io/apiserver/pkg/admission"

	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
)

// checkLegacyVersion reports objects of API versions that are not served.
func checkLegacyVersion(_ context.Context, c *cluster) {
	for _, o := range c.linted {
		kind := o.GroupVersionKind()
		if _, served := c.State.Resource(kind); !served {
			if _, newer := c.State.Resource(kind.GroupKind().WithVersion(v1.SchemeGroupVersion.Version)); !newer {
				continue // no version is served: the object is refused, and checkRefused reports it
			}
			c.add(remark{
				object: o, fields: []string{"apiVersion"},
				message: fmt.Sprintf("Kubernetes %s does not serve %s by default", admission.KubernetesVersion(), kind.GroupVersion()),
				hint:    "write apiVersion: admissionregistration.k8s.io/v1",
			})
		}
	}
}

// checkServerWarning reports the warnings that the API server sends when an object is created.
func checkServerWarning(ctx context.Context, c *cluster) {
	for _, o := range c.linted {
		if _, served := c.State.Resource(o.GroupVersionKind()); !served {
			continue
		}
		request := admission.ClientRequest{Operation: k8sadmission.Create, Object: o, User: c.User}
		v, err := c.Server.Review(ctx, request)
		if err != nil {
			return // the caller checks the context
		}
		for _, text := range v.Warnings { // checkRefused reports refusals
			c.add(warned(o, text))
		}
	}
}

func warned(o *admission.Object, text string) remark {
	r := remark{object: o, message: text, hint: "the API server accepts the object with this warning"}
	if field := scanner.WarnedField(text); field != "" {
		r.fields = []string{field}
	}
	if strings.HasPrefix(text, "unknown field ") {
		r.hint = "the API server drops the field; correct its name or remove it"
	}
	return r
}
