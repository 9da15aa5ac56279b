package admission

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/etcd"
	"github.com/preadmit/preadmit/scanner/admission/names"
	"github.com/preadmit/preadmit/scanner/admission/results"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// Request is an admission request at the point where validating admission runs.
// It is safe for concurrent use and must not be modified.
type Request struct {
	admission.Attributes
	// Interfaces convert the request's objects to the version that a policy matches.
	Interfaces admission.ObjectInterfaces

	// stored returns the size of the object in etcd, in bytes; nil for an object whose text is less than a
	// quarter of etcd's limit.
	stored   func() (int, error)
	dropped  []string
	madeUp   bool // ClientRequest.GeneratedName
	asStored *etcd.Object
	same     sync.Map // maps objects to whether they equal asStored
	client   ClientRequest
	cluster  *Cluster
	mu       sync.Mutex
	versions map[schema.GroupVersionKind]*Version

	// others are the same request with other stand-ins for unknown and unknownOld, the unknown fields
	// of its objects.
	others              []*Request
	standIns            *unknown.StandIns
	unknown, unknownOld []render.Unknown
}

func newRequest(c *Cluster, a admission.Attributes, o admission.ObjectInterfaces) *Request {
	return &Request{Attributes: a, Interfaces: o, cluster: c, versions: map[schema.GroupVersionKind]*Version{}}
}

// Version is a request with its objects in one version of their kind.
type Version struct {
	*admission.VersionedAttributes
	// Object and OldObject are the objects as CEL expressions see them: untyped content, nil when
	// absent. Unknown fields have the written values.
	Object, OldObject map[string]any
	// KnownObject and KnownOldObject have an unknown.Value in place of each unknown value, and an
	// unknown.Open in place of maps that may have more keys, such as the object itself. They are nil
	// when everything is known.
	KnownObject, KnownOldObject any

	whole bool // the fields above are set
}

// Version returns the request with its objects in a version, converted once.
func (r *Request) Version(kind schema.GroupVersionKind) (*Version, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, err := r.converted(kind)
	if err != nil || v.whole {
		return v, err
	}
	if v.Object, err = r.contentOf(r.GetObject(), kind, v.VersionedObject); err != nil {
		return nil, fmt.Errorf("failed to prepare object variable for evaluation: %w", err)
	}
	if v.OldObject, err = r.contentOf(r.GetOldObject(), kind, v.VersionedOldObject); err != nil {
		return nil, fmt.Errorf("failed to prepare oldObject variable for evaluation: %w", err)
	}
	if err := r.mergeUnknown(v, kind); err != nil {
		return nil, err
	}
	v.whole = true
	return v, nil
}

// converted returns a version with converted objects only.
func (r *Request) converted(kind schema.GroupVersionKind) (*Version, error) {
	v := r.versions[kind]
	if v == nil {
		attributes, err := admission.NewVersionedAttributes(r.Attributes, kind, r.Interfaces)
		if err != nil {
			return nil, err
		}
		v = &Version{VersionedAttributes: attributes}
		r.versions[kind] = v
	}
	return v, nil
}

// Objects returns the objects of a version, nil for none, which is cheaper than their content. ok is false if they do
// not determine the content: a field is unknown, or a number has no type.
func (r *Request) Objects(kind schema.GroupVersionKind) (object, oldObject runtime.Object, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, err := r.converted(kind)
	if err != nil || r.isCustom() || len(r.unknown)+len(r.unknownOld) > 0 {
		return nil, nil, false
	}
	return v.VersionedObject, v.VersionedOldObject, true
}

// contentOf returns the content of an object of the request in a version. The content of the stored object is
// shared by all requests about it.
func (r *Request) contentOf(obj runtime.Object, kind schema.GroupVersionKind, versioned runtime.Object) (map[string]any, error) {
	if r.isStored(obj) {
		return r.asStored.Content(kind, r.Interfaces)
	}
	return Content(versioned)
}

// isStored reports whether an object of the request equals the stored one.
func (r *Request) isStored(obj runtime.Object) bool {
	if r.asStored == nil || len(r.unknown)+len(r.unknownOld) > 0 {
		return false
	}
	is, ok := r.same.Load(obj)
	if !ok {
		is, _ = r.same.LoadOrStore(obj, r.asStored.Is(obj))
	}
	return is == true
}

// ObjectIn returns the object of a Version. If the Version does not exist yet, the old object is not
// converted.
func (r *Request) ObjectIn(kind schema.GroupVersionKind) (map[string]any, error) {
	r.mu.Lock()
	v := r.versions[kind]
	made := v != nil && v.whole
	r.mu.Unlock()
	if !made && r.GetObject() != nil && len(r.unknown)+len(r.unknownOld) == 0 {
		if r.isStored(r.GetObject()) {
			return r.asStored.Content(kind, r.Interfaces)
		}
		obj, err := admission.ConvertToGVK(r.GetObject(), kind, r.Interfaces)
		if err != nil {
			return nil, err
		}
		return Content(obj)
	}
	v, err := r.Version(kind)
	if err != nil {
		return nil, err
	}
	return v.Object, nil
}

// mergeUnknown sets the known objects of a version, in which values that depend on unknown fields are
// unknown.
func (r *Request) mergeUnknown(v *Version, kind schema.GroupVersionKind) error {
	if len(r.unknown)+len(r.unknownOld) == 0 {
		if served, ok := r.cluster.Resource(kind); ok && served.Assumed {
			v.KnownObject, v.KnownOldObject = unknown.WithoutSchema(kind, v.Object), unknown.WithoutSchema(kind, v.OldObject)
		}
		return nil
	}
	objects, oldObjects := []map[string]any{v.Object}, []map[string]any{v.OldObject}
	for _, other := range r.others {
		o, err := other.Version(kind)
		if err != nil {
			return err
		}
		objects, oldObjects = append(objects, o.Object), append(oldObjects, o.OldObject)
	}
	object, oldObject := unknown.Merge(objects, r.unknown, r.unknownOld), unknown.Merge(oldObjects, r.unknownOld, r.unknown)
	if kind != r.GetKind() && !r.isCustom() { // stand-ins do not show which values a conversion moves and drops
		object, oldObject = unknown.Converted(object, r.unknown), unknown.Converted(oldObject, r.unknownOld)
	}
	v.KnownObject, v.KnownOldObject = object, oldObject
	if served, ok := r.cluster.Resource(kind); ok && served.Assumed {
		v.KnownObject, v.KnownOldObject = unknown.WithoutSchema(kind, object), unknown.WithoutSchema(kind, oldObject)
	}
	v.Object, v.OldObject = r.standIns.Written(v.Object), r.standIns.Written(v.OldObject)
	return nil
}

// isCustom reports whether the request is about a custom resource.
func (r *Request) isCustom() bool {
	served, ok := r.cluster.Resource(r.GetKind())
	return ok && served.Custom
}

// Others returns the request with other stand-ins for the unknown fields of its objects;
// none when it has no unknown fields.
func (r *Request) Others() []*Request { return r.others }

// Unknown returns the unknown fields of the object, and of the old object.
func (r *Request) Unknown() (object, oldObject []render.Unknown) { return r.unknown, r.unknownOld }

// Dropped returns warnings about fields that the applier does not send, because its client does not
// know them.
func (r *Request) Dropped() []string { return r.dropped }

// Content returns an object as untyped content, as CEL expressions of the API server see it; nil for
// no object.
func Content(obj runtime.Object) (map[string]any, error) {
	if obj == nil || reflect.ValueOf(obj).IsNil() {
		return nil, nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
}

// PolicyCreations caches the prepared creations of policies and bindings. Preparing one compiles each
// expression, which takes longer than everything else, so judging the object uses the result of
// loading it. The zero value is an empty cache.
type PolicyCreations struct {
	results.Results[policyCreation, prepared]
}

// policyCreation is the creation of a policy or binding by a user with a tool. cluster is only set if
// it has all RBAC objects; all other clusters have the same result.
type policyCreation struct {
	cluster *Cluster
	object  *Object
	user    *user.DefaultInfo
	by      apply.Applier
}

// prepared is the result of Prepare.
type prepared struct {
	request  *Request
	warnings []string
	err      error
}

// policyCreation returns the key of a client request and true, if it is the creation of a policy.
func (c *Cluster) policyCreation(a ClientRequest) (key policyCreation, ok bool) {
	if a.Object == nil || !kinds.IsPolicy(a.Object.GroupVersionKind().GroupKind()) {
		return key, false
	}
	if key = (policyCreation{object: a.Object, by: a.Applier}); c.KnowsRBAC() {
		key.cluster = c
	}
	key.user, ok = a.User.(*user.DefaultInfo)
	return key, ok && a == ClientRequest{Operation: admission.Create, Object: a.Object, User: a.User, Applier: a.Applier}
}

func (p *preparation) attributes(obj, old runtime.Object, name string, options runtime.Object) admission.Attributes {
	return admission.NewAttributesRecord(obj, old, p.handler.resource.Kind, p.namespace, name,
		p.handler.resource.GroupVersionResource, p.client.Subresource, p.client.Operation, options, p.client.DryRun, p.client.User)
}

func (p *preparation) request(ctx context.Context, a admission.Attributes) (*Request, error) {
	if err := p.validate(ctx, a); err != nil {
		return nil, err
	}
	names.Times(a.GetObject(), Created())
	r := newRequest(p.cluster, a, p.handler.interfaces)
	if p.large {
		r.stored = func() (int, error) {
			if p.untrackable != nil {
				return 0, p.untrackable
			}
			return p.handler.etcd().Size(a.GetObject(), p.managed, p.handler.interfaces)
		}
	}
	return r, nil
}
