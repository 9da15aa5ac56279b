package server

import (
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

// ReadsAlike reports whether policies judge two requests about an object alike, as they read nothing of it that
// differs: the same policies match, and what their expressions read is the same. It is false where that is not
// known. before is the server that judged was; was is nil where there was no such request, so that it is enough
// for a policy to match. Policies and what they look at beside the object are the same on both servers, and
// nothing has changed the objects of the requests.
func (s *Server) ReadsAlike(before *Server, was, now *admission.Request) bool {
	if now == nil || len(s.views) != len(before.views) {
		return false
	}
	for i, view := range s.views {
		if !view.readsAlike(before.views[i], was, now) {
			return false
		}
	}
	return true
}

func (v view) readsAlike(before view, was, now *admission.Request) bool {
	readers, known := v.readers(now)
	if !known || was == nil {
		return known && len(readers) == 0
	}
	earlier, known := before.readers(was)
	return known && slices.EqualFunc(earlier, readers, func(a, b policy.Application) bool {
		return a.Policy == b.Policy && a.Kind == b.Kind && slices.Equal(a.Bindings, b.Bindings)
	}) && !slices.ContainsFunc(readers, func(r policy.Application) bool { return v.readsDifference(r, was, now) })
}

// readers are the policies that judge a request; known is false where it is not known which do.
func (v view) readers(req *admission.Request) (all []policy.Application, known bool) {
	all = v.engine.Applications(req)
	return all, !slices.ContainsFunc(all, func(a policy.Application) bool {
		return a.Unknown != "" || slices.Contains(a.Bindings, "")
	})
}

// readsDifference reports whether a policy reads something in which two requests differ, or may.
func (v view) readsDifference(by policy.Application, was, now *admission.Request) bool {
	object, err := objectOf(now, by.Kind)
	if err != nil {
		return true
	}
	earlier, err := objectOf(was, by.Kind)
	if err != nil {
		return true
	}
	unknown := slices.Concat(unknownOf(was), unknownOf(now))
	i := slices.IndexFunc(v.View.Policies.Policies, func(p *policy.Policy) bool { return p.Name == by.Policy })
	if i < 0 {
		return true
	}
	for _, text := range textsOf(&v.View.Policies.Policies[i].Spec) {
		reads, err := expressions.AllReads(text)
		if err != nil {
			return true
		}
		if slices.ContainsFunc(reads, func(read expressions.Read) bool {
			switch read.Path[0] {
			case "object", "oldObject": // of an update the old one is that of before
				return read.Differ(earlier, object) || mayBeUnknown(unknown, read.Path[1:])
			}
			return read.Path[0] == "authorizer" || // whose answers are the cluster's
				read.Path[0] == "request" && attributesDiffer(read.Path[1:], was, now)
		}) {
			return true
		}
	}
	return false
}

// attributesDiffer reports whether requests differ in an attribute that an expression reads by a path, or may.
// The kind and the resource that a policy matches are the same where it judges both.
func attributesDiffer(path []string, was, now *admission.Request) bool {
	if len(path) == 0 {
		return true
	}
	switch path[0] {
	case "operation":
		return was.GetOperation() != now.GetOperation()
	case "name":
		return was.GetName() != now.GetName()
	case "namespace":
		return was.GetNamespace() != now.GetNamespace()
	case "kind", "resource", "requestKind", "requestResource":
		return was.GetKind() != now.GetKind() || was.GetResource() != now.GetResource()
	case "subResource", "requestSubResource":
		return was.GetSubresource() != now.GetSubresource()
	case "userInfo":
		return !reflect.DeepEqual(was.GetUserInfo(), now.GetUserInfo())
	}
	return true
}

// objectOf is the object of a request as a policy sees it that asks for a kind: of a deletion the one that is deleted.
func objectOf(req *admission.Request, kind schema.GroupVersionKind) (map[string]any, error) {
	v, err := req.Version(kind)
	if err != nil {
		return nil, err
	}
	if v.Object == nil {
		return v.OldObject, nil
	}
	return v.Object, nil
}

func unknownOf(req *admission.Request) []render.Unknown {
	object, oldObject := req.Unknown()
	return slices.Concat(object, oldObject)
}

// mayBeUnknown reports whether a path leads to one of some fields, or into one.
func mayBeUnknown(fields []render.Unknown, path []string) bool {
	return slices.ContainsFunc(fields, func(f render.Unknown) bool {
		for i := range min(len(f.Path), len(path)) {
			if f.Path[i] != path[i] && !strings.HasPrefix(path[i], "[") {
				return false
			}
		}
		return true
	})
}

// textsOf are all expressions of a policy.
func textsOf(spec *v1.ValidatingAdmissionPolicySpec) (texts []string) {
	for _, c := range spec.MatchConditions {
		texts = append(texts, c.Expression)
	}
	for _, v := range spec.Variables {
		texts = append(texts, v.Expression)
	}
	for _, v := range spec.Validations {
		texts = append(texts, v.Expression)
		if v.MessageExpression != "" {
			texts = append(texts, v.MessageExpression)
		}
	}
	for _, a := range spec.AuditAnnotations {
		texts = append(texts, a.ValueExpression)
	}
	return texts
}
