package admission

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/custom"
	"github.com/preadmit/preadmit/scanner/admission/etcd"
	"github.com/preadmit/preadmit/scanner/admission/names"
	"github.com/preadmit/preadmit/scanner/admission/refusal"
	"github.com/preadmit/preadmit/scanner/admission/services"
	"github.com/preadmit/preadmit/scanner/admission/size"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// storedResourceVersion is the resourceVersion of every object of the state.
const storedResourceVersion = "1"

// stored returns the client request's old object as the server stores it, in the form of the request's version.
func (p *preparation) stored() (runtime.Object, error) {
	if p.client.OldObject == nil {
		return nil, fmt.Errorf("%s needs an old object", p.client.Operation)
	}
	obj, err := p.live()
	if obj == nil && err == nil {
		obj, err = p.client.Storage.stored(p)
	}
	var refusal *apierrors.StatusError
	if errors.As(err, &refusal) {
		return nil, &NeverStoredError{Message: refusal.ErrStatus.Message}
	}
	if err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	if obj, err = p.controlled(obj); err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	return p.handler.convert(obj)
}

// Storage keeps a stored object, and manifests as they are applied, for requests about the same object. It is
// not safe for concurrent use.
type Storage struct {
	cluster   *Cluster
	how       keeping
	object    *etcd.Object
	copied    runtime.Object // the last copy of object
	contents  map[*Object]map[string]any
	manifests map[manifestKey]manifest
	written   map[manifestKey]*apply.Applied
}

// manifestKey identifies a manifest that an applier applies to objects of a handler.
type manifestKey struct {
	handler *handler
	object  *Object
	by      apply.Applier
}

// manifest is an object as its applier applies it; Applied is nil if that needs managed fields. whole is set
// if the applier sends all its fields.
type manifest struct {
	*apply.Applied
	whole bool
}

// content returns the content of an object, which must not be modified.
func (s *Storage) content(o *Object) map[string]any {
	if s == nil {
		return o.passingContent()
	}
	content, ok := s.contents[o]
	if !ok {
		content = o.passingContent()
		if s.contents == nil {
			s.contents = map[*Object]map[string]any{}
		}
		s.contents[o] = content
	}
	return content
}

// applied returns an object as the applier of a request applies it. last is the object that it applied
// before, nil for none.
func (s *Storage) applied(p *preparation, o *Object, last *apply.Applied) (m manifest) {
	key := manifestKey{p.handler, o, p.client.Applier}
	if s != nil {
		if known, ok := s.manifests[key]; ok {
			return known
		}
	}
	fields, err := p.handler.fields()
	if err != nil {
		return m
	}
	sent := p.manifest(o)
	if m = (manifest{last.Like(sent), apply.Has(sent, p.client.Storage.content(o))}); m.Applied == nil {
		m.Applied = fields.Applied(sent, p.client.Applier)
	}
	if s != nil {
		if s.manifests == nil {
			s.manifests = map[manifestKey]manifest{}
		}
		s.manifests[key] = m
	}
	return m
}

// stored returns the old object of a request as it is stored.
func (s *Storage) stored(p *preparation) (obj runtime.Object, err error) {
	how := keeping{before: true, object: p.client.OldObject, by: p.client.Applier, mutator: p.client.StoredMutator, tracked: p.client.Applier.ServerSide() && p.renewal == nil && p.client.Operation == admission.Update}
	if s == nil || len(p.unknown.old) > 0 {
		return p.cluster.storeBy(how, p.unknown.old)
	}
	if s.object == nil || s.cluster != p.cluster || s.how != how {
		from := how
		from.shared = s
		if obj, err = p.cluster.storeBy(from, nil); err != nil {
			return nil, err
		}
		s.cluster, s.how, s.object = p.cluster, how, etcd.NewObject(obj)
	}
	s.copied = s.object.Copy()
	return s.copied, nil
}

// known returns the stored object, nil for none.
func (s *Storage) known() *etcd.Object {
	if s == nil {
		return nil
	}
	return s.object
}

// has reports whether an object that was just read equals the stored one. Reading may have changed a custom
// resource.
func (s *Storage) has(p *preparation, live runtime.Object) bool {
	stored := s.known()
	return stored != nil && (live == s.copied && !p.handler.resource.Custom || stored.Is(live))
}

// asWritten returns the old object of a request as it is written, nil if applying it may do more than write
// it.
func (s *Storage) asWritten(p *preparation) *apply.Applied {
	key := manifestKey{p.handler, p.client.OldObject, p.client.Applier}
	if s != nil && s.written[key] != nil {
		return s.written[key]
	}
	fields, err := p.handler.fields()
	if err != nil || p.handler.resource.Custom || p.handler.resource.Kind.GroupKind() == kinds.Definition {
		return nil
	}
	written := fields.Written(p.placed(p.client.OldObject), p.client.Applier)
	if s != nil {
		s.written = map[manifestKey]*apply.Applied{key: written}
	}
	return written
}

// live returns the client request's old object if it is that of a cluster, else nil. If it does not state which
// fields its applier manages, these are the fields that the applier last applied.
func (p *preparation) live() (runtime.Object, error) {
	o, by := p.client.OldObject, p.client.Applier
	if !p.client.Live {
		return nil, nil
	}
	h, err := p.cluster.handler(o.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	obj, _, err := h.decode(o)
	if err != nil { // no *apierrors.StatusError, which would be a response to the request
		return nil, fmt.Errorf("the object of the cluster does not decode: %v", err)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	if managedfields.ValidateManagedFields(m.GetManagedFields()) != nil {
		m.SetManagedFields(nil)
	}
	var last runtime.Object
	if p.client.Last != nil {
		last = p.lastApplied(h)
	}
	p.complete(obj, m, last)
	if obj, err = h.etcd().Reread(obj); err != nil || last == nil || by.Owns(m.GetManagedFields()) {
		return obj, err
	}
	if by.Merges() && len(m.GetManagedFields()) == 0 {
		return obj, apply.Remember(obj, last)
	}
	fields, err := h.fields()
	if err != nil || !by.ServerSide() {
		return obj, err
	}
	obj, known, err := fields.Assume(obj, last, by)
	p.assumed = !known
	return obj, err
}

// lastApplied returns the object that the client request's applier last applied, as it was stored then, in the version
// of a handler; nil if that is not possible.
func (p *preparation) lastApplied(h *handler) runtime.Object {
	last := p.client.Last
	if len(last.Unknown) > 0 {
		s, err := p.cluster.standIns(last.GroupVersionKind())
		if err != nil {
			return nil
		}
		last = last.filled(s, p.client.OldObject, 1) // with the values of the cluster
	}
	obj, err := p.cluster.storeBy(keeping{before: true, object: last, by: p.client.Applier, mutator: p.client.StoredMutator, tracked: p.client.Applier.ServerSide()}, nil)
	if err == nil {
		obj, err = h.convert(obj)
	}
	if err != nil {
		return nil
	}
	return obj
}

// complete adds to an object of a cluster the metadata that every stored object has, and to a
// CustomResourceDefinition its status, if they are missing.
func (p *preparation) complete(obj runtime.Object, m metav1.Object, last runtime.Object) {
	names.Complete(m, p.id(m), Created())
	if m.GetResourceVersion() == "" {
		m.SetResourceVersion(storedResourceVersion)
	}
	if was, err := meta.Accessor(last); err == nil && m.GetGeneration() == 0 {
		m.SetGeneration(was.GetGeneration())
	}
	custom.Establish(obj, Created())
}

// id returns an identifier of an object of the client request's kind, also of one with a generated name.
func (p *preparation) id(m metav1.Object) string {
	return p.handler.resource.GroupResource().String() + "/" + p.namespace + "/" + m.GetName() + m.GetGenerateName()
}

// store returns an object as the server stores it after its creation. An object that the server would
// refuse is taken to have been accepted once, so only decoding errors are returned.
func (c *Cluster) store(o *Object) (runtime.Object, error) {
	return c.storeBy(keeping{object: o}, nil)
}

// keeping describes how a stored object was created: a tool applied it, and a mutator changed it. tracked is
// set if its managed fields are needed.
type keeping struct {
	object  *Object
	by      apply.Applier
	mutator Mutator
	tracked bool
	// before is set for the old object of a request, whose version may have been served when it was sent.
	before bool
	// shared caches contents of the object.
	shared *Storage
}

// storeBy returns an object as it is stored, without fields that its kind does not know. fields are those
// with stand-ins.
func (c *Cluster) storeBy(how keeping, fields []render.Unknown) (runtime.Object, error) {
	o, err := c.storable(how.object)
	if err != nil {
		return nil, err
	}
	handlerOf := c.handler
	if how.before {
		handlerOf = c.storedHandler
	}
	h, err := handlerOf(o.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	p := &preparation{cluster: c, handler: h, client: ClientRequest{Operation: admission.Create, Object: o, User: c.opts.Creator, Applier: how.by, Mutator: how.mutator, Storage: how.shared}, unknown: unknownFields{object: fields}, tracked: how.tracked, lenient: true, namespace: c.requestNamespace(h.resource, o), name: o.Name()}
	ctx := p.context(context.Background())
	obj, m, err := p.sent(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	if !how.by.ServerSide() {
		rest.WipeObjectMetaSystemFields(m)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(p.objectNamespace(), m); err != nil {
		return nil, err
	}
	builtin.DedupOwners(ctx, m, false)
	var refusal *apierrors.StatusError
	if err := p.mutate(ctx, p.attributes(obj, nil, p.name, nil)); err != nil && !errors.As(err, &refusal) {
		return nil, err
	}
	names.Fill(m, p.id(m), Created())
	m.SetResourceVersion("")
	m.SetSelfLink("")
	if h.Create != nil {
		if err := c.assign(ctx, obj, nil, services.Options{Stored: true}); err != nil && !errors.As(err, &refusal) {
			return nil, err
		}
		h.Create.PrepareForCreate(ctx, obj)
		names.Times(obj, Created())
		h.Create.Canonicalize(obj)
	}
	custom.Establish(obj, Created())
	m.SetResourceVersion(storedResourceVersion)
	return h.etcd().Reread(obj)
}

// TooLarge returns the refusal of an object that is too large for etcd, which comes after quotas.
func (r *Request) TooLarge() error {
	if r.stored == nil || r.GetSubresource() != "" || r.IsDryRun() {
		return nil
	}
	bytes, err := r.stored()
	if err != nil {
		return fmt.Errorf("size of the object: %w", err)
	}
	return size.Stored(bytes)
}

// Stored returns an object of the state as a client reads it in a version.
func (c *Cluster) Stored(o *Object, kind schema.GroupVersionKind) (obj runtime.Object, err error) {
	defer refusal.Panicked(&err)
	obj, err = c.store(o)
	if err != nil {
		return nil, err
	}
	h, err := c.handler(kind)
	if err != nil {
		return nil, err
	}
	if obj, err = h.convert(obj); err != nil {
		return nil, err
	}
	return admission.ConvertToGVK(obj, kind, h.interfaces)
}

// updated returns the stored object and the result of an update.
func (p *preparation) updated(ctx context.Context) (old, obj runtime.Object, m metav1.Object, err error) {
	for _, renewal := range []func() *apply.Applied{p.repeats, p.renews} {
		if p.renewal = renewal(); p.renewal == nil {
			continue
		}
		if old, err = p.stored(); err == nil {
			if obj, m, err = p.sent(ctx, p.client.Object, old); err == nil {
				return old, obj, m, nil
			}
		}
		p.renewal, p.dropped = nil, nil // the server reports the error below
	}
	if old, err = p.stored(); err == nil {
		obj, m, err = p.sent(ctx, p.client.Object, old)
	}
	return old, obj, m, err
}
