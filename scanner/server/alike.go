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

// ReadsAlike reports whether policies judge two requests about an object alike, since the same policies match
// and their expressions read nothing that differs. It is false if that is not known. before is the server
// that judged was; was is nil if there was no such request: then the result is true only if no policy
// matches. Both servers must have the same policies and other objects that policies read, and no policy may
// have changed the objects of the requests.
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

// settled returns the names of the policies that certainly have no finding about a request, since they had
// none about another one with equal values of all that they read. Both objects are those after mutating
// policies.
func (v view) settled(other *Verdict, req *admission.Request) map[string]bool {
	if other == nil || other.Request == nil || !other.Reached() || v.mutator != nil || other.Request.GetNamespace() != req.GetNamespace() {
		return nil
	}
	c := &comparison{was: other.Request, now: req, kinds: map[schema.GroupVersionKind]*versions{}}
	before := v.engine.Applications(other.Request)
	all := map[string]bool{}
	for _, a := range v.engine.Applications(req) {
		same := slices.ContainsFunc(before, func(b policy.Application) bool { return sameApplication(a, b) })
		if same && isKnown(a) && !other.hasFinding(a.Policy) && !v.readsDifference(a, c) {
			all[a.Policy] = true
		}
	}
	return all
}

// hasFinding reports whether a verdict has a finding of a policy.
func (v *Verdict) hasFinding(policyName string) bool {
	return slices.ContainsFunc(v.Decisions, func(d policy.Decision) bool { return d.Policy.Name == policyName }) ||
		slices.ContainsFunc(v.Indeterminate, func(i policy.Indeterminate) bool { return i.Policy.Name == policyName })
}

// sameApplication reports whether the same policy is applied by the same bindings to the same version.
func sameApplication(a, b policy.Application) bool {
	return a.Policy == b.Policy && a.Kind == b.Kind && slices.Equal(a.Bindings, b.Bindings)
}

// isKnown reports whether it is known that a policy judges a request, and by which bindings.
func isKnown(a policy.Application) bool { return a.Unknown == "" && !slices.Contains(a.Bindings, "") }

// readers returns the policies that judge a request; known is false if they are not known.
func (v view) readers(req *admission.Request) (all []policy.Application, known bool) {
	all = v.engine.Applications(req)
	return all, !slices.ContainsFunc(all, func(a policy.Application) bool { return !isKnown(a) })
}

// comparison compares two requests.
type comparison struct {
	was, now *admission.Request
	kinds    map[schema.GroupVersionKind]*versions
}

// versions are the objects of two requests in the version of a kind that policies match.
type versions struct {
	before, after map[string]any
	// differences are the paths at which they differ.
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

// readsDifference reports whether a policy reads something in which two requests differ, or may
// differ.
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
		case "oldObject": // the old object of an update is the previous object
			return objects.differ(read) || c.oldDiffers(read, by.Kind) || mayBeUnknown(unknown, read.Path[1:])
		}
		return read.Path[0] == "authorizer" || // its answers depend on the cluster
			read.Path[0] == "request" && attributesDiffer(read.Path[1:], c.was, c.now)
	})
}

// differ reports whether the objects differ in the part that is read.
func (v *versions) differ(read expressions.Read) bool {
	return read.Meets(v.differences) && read.Differ(v.before, v.after)
}

// oldDiffers reports whether the old objects differ in the part that is read.
func (c *comparison) oldDiffers(read expressions.Read, kind schema.GroupVersionKind) bool {
	was, err := c.was.Version(kind)
	if err != nil {
		return true
	}
	now, err := c.now.Version(kind)
	return err != nil || (was.OldObject == nil) != (now.OldObject == nil) || read.Differ(was.OldObject, now.OldObject)
}

// attributesDiffer reports whether requests differ, or may differ, in an attribute that an expression reads
// by a path. The kind and the resource that a policy matches are the same if it judges both.
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

// objectOf returns the object of a request in a version; for a DELETE it is the deleted object.
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

// readsOf returns the reads of the expressions of each policy of a set, once for each path.
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

// textsOf returns all expressions of a policy.
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
