package server

import (
	"reflect"
	"slices"
	"strings"
	"sync"

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
	c := &comparison{was: was, now: now, kinds: map[schema.GroupVersionKind]*versions{}}
	for i, view := range s.views {
		if !view.readsAlike(before.views[i], c) {
			return false
		}
	}
	return true
}

func (v view) readsAlike(before view, c *comparison) bool {
	readers, known := v.readers(c.now)
	if !known || c.was == nil {
		return known && len(readers) == 0
	}
	earlier, known := before.readers(c.was)
	return known && slices.EqualFunc(earlier, readers, sameApplication) && !slices.ContainsFunc(readers, func(r policy.Application) bool { return v.readsDifference(r, c) })
}

// settled names the policies that certainly have nothing to say to a request, as they had nothing to say to another
// one, which reads the same to them. The objects of both are as policies that change objects left them.
func (v view) settled(other *Verdict, req *admission.Request) map[string]bool {
	if other == nil || other.Request == nil || !other.Reached() || v.mutator != nil || other.Request.GetNamespace() != req.GetNamespace() {
		return nil
	}
	c := &comparison{was: other.Request, now: req, kinds: map[schema.GroupVersionKind]*versions{}}
	before := v.engine.Applications(other.Request)
	all := map[string]bool{}
	for _, a := range v.engine.Applications(req) {
		same := slices.ContainsFunc(before, func(b policy.Application) bool { return sameApplication(a, b) })
		if same && isKnown(a) && !other.names(a.Policy) && !v.readsDifference(a, c) {
			all[a.Policy] = true
		}
	}
	return all
}

// names reports whether a verdict has a finding of a policy.
func (v *Verdict) names(policyName string) bool {
	return slices.ContainsFunc(v.Decisions, func(d policy.Decision) bool { return d.Policy.Name == policyName }) ||
		slices.ContainsFunc(v.Indeterminate, func(i policy.Indeterminate) bool { return i.Policy.Name == policyName })
}

// sameApplication reports whether the same policy is applied by the same bindings to the same version.
func sameApplication(a, b policy.Application) bool {
	return a.Policy == b.Policy && a.Kind == b.Kind && slices.Equal(a.Bindings, b.Bindings)
}

// isKnown reports whether it is known that a policy judges a request, and which bindings have it do so.
func isKnown(a policy.Application) bool { return a.Unknown == "" && !slices.Contains(a.Bindings, "") }

// readers are the policies that judge a request; known is false where it is not known which do.
func (v view) readers(req *admission.Request) (all []policy.Application, known bool) {
	all = v.engine.Applications(req)
	return all, !slices.ContainsFunc(all, func(a policy.Application) bool { return !isKnown(a) })
}

// comparison is of two requests.
type comparison struct {
	was, now *admission.Request
	kinds    map[schema.GroupVersionKind]*versions
}

// versions are the objects of two requests as policies see them that ask for a kind.
type versions struct {
	before, after map[string]any
	// differences has the paths where they differ.
	differences []expressions.Path
	err         error
}

// in returns the objects in a version.
func (c *comparison) in(kind schema.GroupVersionKind) *versions {
	v := c.kinds[kind]
	if v == nil {
		v = &versions{}
		if v.before, v.err = objectOf(c.was, kind); v.err == nil {
			v.after, v.err = objectOf(c.now, kind)
		}
		v.differences = expressions.Differences(v.before, v.after)
		c.kinds[kind] = v
	}
	return v
}

// readsDifference reports whether a policy reads something in which two requests differ, or may.
func (v view) readsDifference(by policy.Application, c *comparison) bool {
	objects := c.in(by.Kind)
	readsOf := v.reads[by.Policy]
	if objects.err != nil || readsOf == nil {
		return true
	}
	reads, err := readsOf()
	if err != nil {
		return true
	}
	unknown := slices.Concat(unknownOf(c.was), unknownOf(c.now))
	return slices.ContainsFunc(reads, func(read expressions.Read) bool {
		switch read.Path[0] {
		case "object":
			return objects.differ(read) || mayBeUnknown(unknown, read.Path[1:])
		case "oldObject": // of an update the old one is that of before
			return objects.differ(read) || c.oldDiffers(read, by.Kind) || mayBeUnknown(unknown, read.Path[1:])
		}
		return read.Path[0] == "authorizer" || // whose answers are the cluster's
			read.Path[0] == "request" && attributesDiffer(read.Path[1:], c.was, c.now)
	})
}

// differ reports whether the objects differ in what is read of them.
func (v *versions) differ(read expressions.Read) bool {
	return read.Meets(v.differences) && read.Differ(v.before, v.after)
}

// oldDiffers reports whether the old objects differ in what is read of them.
func (c *comparison) oldDiffers(read expressions.Read, kind schema.GroupVersionKind) bool {
	was, err := c.was.Version(kind)
	if err != nil {
		return true
	}
	now, err := c.now.Version(kind)
	return err != nil || (was.OldObject == nil) != (now.OldObject == nil) || read.Differ(was.OldObject, now.OldObject)
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

// objectOf is the object of a request in a version, of a deletion the one that is deleted.
func objectOf(req *admission.Request, kind schema.GroupVersionKind) (map[string]any, error) {
	if req.GetObject() != nil {
		return req.ObjectIn(kind)
	}
	v, err := req.Version(kind)
	if err != nil {
		return nil, err
	}
	return v.OldObject, nil
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

// readsOf returns what the expressions of each policy of a set read, once for each path.
func readsOf(set *policy.Set) map[string]func() ([]expressions.Read, error) {
	all := map[string]func() ([]expressions.Read, error){}
	for _, p := range set.Policies {
		all[p.Name] = sync.OnceValues(func() (reads []expressions.Read, err error) {
			for _, text := range textsOf(&p.Spec) {
				more, err := expressions.AllReads(text)
				if err != nil {
					return nil, err
				}
				for _, read := range more {
					if !slices.ContainsFunc(reads, read.Equal) {
						reads = append(reads, read)
					}
				}
			}
			return reads, nil
		})
	}
	return all
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
