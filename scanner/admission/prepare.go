package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/controlled"
	"github.com/preadmit/preadmit/scanner/admission/names"
	"github.com/preadmit/preadmit/scanner/admission/refusal"
	"github.com/preadmit/preadmit/scanner/admission/services"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// ClientRequest is a request to the API server as a client sends it.
type ClientRequest struct {
	// Operation is admission.Create, Update or Delete.
	Operation admission.Operation
	// Subresource is empty for the object itself.
	Subresource string
	User        user.Info
	// Object is the body (CREATE, UPDATE), OldObject the manifest of the stored object (UPDATE,
	// DELETE).
	Object, OldObject *Object
	// Live is set if OldObject is the object of a cluster, with fields that others than the applier
	// wrote. Last is then the manifest that the applier last applied, nil if it never did.
	Live   bool
	Last   *Object
	DryRun bool
	// Applier is the tool that applies the object. The zero value sends it unchanged, in a POST or a
	// PUT.
	Applier apply.Applier
	// GeneratedName is set when a controller generated the name of the object, so that it does not matter.
	GeneratedName bool

	// Mutator changes the new object, and StoredMutator changed the stored one when it was created;
	// nil for none.
	Mutator, StoredMutator Mutator

	// Storage keeps the stored form of OldObject for other requests; nil if there are none.
	Storage *Storage

	// controls are the fields of OldObject that controllers have written, nil for none.
	controls *controlled.Fields
}

// Main returns the object that the request is about, nil when there is none.
func (a ClientRequest) Main() *Object {
	if a.Object != nil {
		return a.Object
	}
	return a.OldObject
}

// Prepare processes a client request up to validating admission: decoding, defaulting, the built-in mutating
// plugins, and the registry's preparation and validation, in the order of a kube-apiserver's
// handlers.
//
// The error is a *apierrors.StatusError when the server itself refuses the request, an
// *UnknownKindError when nothing defines the kind, a *ConversionError when only a webhook can convert
// the stored object; any other error is a defect. warned are the server's warnings, in order, also
// with a refusal.
//
// For an object with unknown fields it is an *unknown.Error when the result depends on them.
func (c *Cluster) Prepare(ctx context.Context, in ClientRequest) (req *Request, warned []string, err error) {
	key, ok := c.policyCreation(in)
	if !ok {
		return c.prepareUncached(ctx, in)
	}
	p := c.opts.Policies.Of(key, func() (p prepared) {
		p.request, p.warnings, p.err = c.prepareUncached(ctx, in)
		return p
	})
	return p.request, p.warnings, p.err
}

func (c *Cluster) prepareUncached(ctx context.Context, in ClientRequest) (req *Request, warned []string, err error) {
	if in.Applier != "" && in.Subresource == "" && in.OldObject != nil {
		in.controls = c.controlledFieldsOf(in)
	}
	if req, warned, err = c.prepareControlled(ctx, in); err == nil {
		err = c.noteControlled(req, in.controls)
		req.client, req.client.Storage = in, nil
	}
	return req, warned, err
}

// prepareFilled prepares a client request, with stand-ins for unknown fields of its objects.
func (c *Cluster) prepareFilled(ctx context.Context, in ClientRequest) (*Request, []string, error) {
	if in.Main() != nil && len(in.unknown()) > 0 {
		return c.prepareUnknown(ctx, in)
	}
	return c.prepare(ctx, in, unknownFields{})
}

// prepare processes a client request up to validating admission. Errors of the unknown fields, which have
// stand-ins, are ignored.
func (c *Cluster) prepare(ctx context.Context, in ClientRequest, fields unknownFields) (req *Request, warned []string, err error) {
	defer refusal.Panicked(&err)
	main := in.addressed()
	if main == nil {
		return nil, nil, errors.New("a request needs an object")
	}
	h, err := c.handler(main.GroupVersionKind())
	if err != nil {
		return nil, nil, err
	}
	recorder := &warnings{}
	p := &preparation{cluster: c, handler: h, client: in, unknown: fields, namespace: c.requestNamespace(h.resource, main), name: main.Name()}
	if h.resource.Kind.GroupKind() == kinds.Namespace && p.name != "" {
		p.namespace = p.name // for admission, a Namespace is in itself
	}
	ctx = p.context(warning.WithWarningRecorder(ctx, recorder))
	if err = h.resource.Serves(in.Subresource, in.Operation, p.patches(), p.name); err == nil {
		if h.deprecation != "" {
			warning.AddWarning(ctx, "", h.deprecation)
		}
		err = c.podSecurityUnknown(h.resource, p.namespace)
	}
	if err == nil {
		err = p.fits()
	}
	if err == nil {
		req, err = p.run(ctx)
	}
	if req != nil {
		req.dropped, req.madeUp, req.asStored = p.dropped, in.GeneratedName, in.Storage.known()
	}
	if h.resource.Kind.GroupKind() == kinds.Definition {
		slices.Sort(recorder.texts) // the server returns those about formats in the order of a map
	}
	return req, recorder.texts, refusal.Ordered(err, h.resource.Custom, main.Content)
}

// warnings collects the texts of the server's Warning headers.
type warnings struct{ texts []string }

// AddWarning implements warning.Recorder.
func (w *warnings) AddWarning(_, text string) { w.texts = append(w.texts, text) }

// NeverStoredError is the error for an old object that does not decode, so that no server has stored
// it. A request to update it creates the object.
type NeverStoredError struct{ Message string }

func (e *NeverStoredError) Error() string {
	return "the server cannot have had the object as it was before: " + e.Message
}

// unknownFields are fields of an object and of the old object that have stand-ins.
type unknownFields struct{ object, old []render.Unknown }

// preparation is the processing of a client request.
type preparation struct {
	cluster         *Cluster
	handler         *handler
	client          ClientRequest
	unknown         unknownFields
	namespace, name string
	// tracked is set when the managed fields are needed afterwards.
	tracked bool
	// renewal applies the object of an update without managed fields; nil if these are needed.
	renewal *apply.Applied
	// same is set if renewal is the manifest from which the stored object was created, or one like it; whole
	// is set if its applier sends all its fields.
	same, whole bool
	// lenient is set for an object that is stored already: unknown fields are dropped, whatever field
	// validation its applier requests.
	lenient bool
	// assumed is set if the managed fields of the old object are not known.
	assumed bool
	// dropped are warnings about fields that the applier does not send.
	dropped []string
	// large is set for an object that may be too large for etcd. Then managed are its managed fields,
	// and untrackable is the reason if they are not known.
	large       bool
	managed     []metav1.ManagedFieldsEntry
	untrackable error
}

func (p *preparation) run(ctx context.Context) (*Request, error) {
	if p.client.Subresource == "scale" {
		return p.scale(ctx)
	}
	switch p.client.Operation {
	case admission.Create:
		return p.create(ctx)
	case admission.Update:
		return p.update(ctx)
	case admission.Delete:
		return p.delete(ctx)
	}
	return nil, fmt.Errorf("unsupported operation %s", p.client.Operation)
}

// patches reports whether the applier sends a PATCH for an object that is to exist afterwards. kubectl's merge reads it
// before, which the same kinds refuse.
func (p *preparation) patches() bool {
	return p.client.Operation != admission.Delete && (p.client.Applier.ServerSide() || p.client.Applier.Merges())
}

// context returns a context with the values that registry strategies read.
func (p *preparation) context(ctx context.Context) context.Context {
	r := p.handler.resource
	ctx = request.WithNamespace(ctx, p.namespace)
	if p.client.User != nil {
		ctx = request.WithUser(ctx, p.client.User)
	}
	return request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true,
		Verb:              builtin.Verb(p.client.Operation),
		APIGroup:          r.Group,
		APIVersion:        r.Version,
		Resource:          r.Resource,
		Subresource:       p.client.Subresource,
		Namespace:         p.namespace,
		Name:              p.name,
	})
}

// decode decodes a body and reports unknown fields as warnings.
func (p *preparation) decode(ctx context.Context, sent *Object) (runtime.Object, metav1.Object, error) {
	obj, unknown, err := p.handler.decode(sent)
	if err != nil {
		return nil, nil, err
	}
	if len(unknown) > 0 && !p.lenient && p.client.Applier.Validation() == metav1.FieldValidationStrict {
		kind := p.handler.resource.Kind
		return nil, nil, builtin.DecodeError(builtin.StrictError(unknown), &kind, kind)
	}
	for _, w := range unknown {
		warning.AddWarning(ctx, "", w)
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, nil, fmt.Errorf("%s has no metadata: %w", p.handler.resource.Kind.Kind, err)
	}
	return obj, m, nil
}

// create follows k8s.io/apiserver/pkg/endpoints/handlers/create.go and
// pkg/registry/generic/registry/store.go, Store.create.
func (p *preparation) create(ctx context.Context) (*Request, error) {
	obj, m, err := p.sent(ctx, p.client.Object, nil)
	if err != nil {
		return nil, err
	}
	p.track(obj)
	untracked(obj)
	patched := p.client.Applier.ServerSide()
	if !patched {
		rest.WipeObjectMetaSystemFields(m)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(p.objectNamespace(), m); err != nil {
		return nil, err
	}
	options := &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "CreateOptions"}}
	options.FieldManager, options.FieldValidation = p.client.optionsOf()
	if p.client.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	if !patched {
		builtin.DedupOwners(ctx, m, false)
	}
	if err := p.mutate(ctx, p.attributes(obj, nil, p.name, options)); err != nil {
		return nil, err
	}
	builtin.DedupOwners(ctx, m, true)
	if err := p.versioned(obj, nil, false); err != nil {
		return nil, err
	}
	if err := p.accountUnknown(obj); err != nil {
		return nil, err
	}
	if err := p.cluster.escalates(ctx, p.handler.resource, obj, nil); err != nil {
		return nil, err
	}
	if err := builtin.Reviewed(obj); err != nil {
		return nil, err
	}
	names.Fill(m, p.id(m), Created())
	if p.handler.Create != nil {
		if err := p.cluster.assign(ctx, obj, nil, services.Options{DryRun: p.client.DryRun}); err != nil {
			return nil, err
		}
		if err := rest.BeforeCreate(p.handler.Create, ctx, obj); err != nil {
			if err := unknown.Tolerate(err, p.unknown.object, p.client.Object.Content()); err != nil {
				return nil, err
			}
			p.handler.Create.Canonicalize(obj)
		}
	}
	name := p.name
	if name == "" {
		name = m.GetName()
	}
	return p.request(ctx, p.attributes(obj, nil, name, options))
}

// update follows k8s.io/apiserver/pkg/endpoints/handlers/update.go and
// pkg/registry/generic/registry/store.go, Store.Update.
func (p *preparation) update(ctx context.Context) (*Request, error) {
	old, obj, m, err := p.updated(ctx)
	var never *NeverStoredError
	if errors.As(err, &never) && p.client.Subresource == "" {
		p.client.Operation, p.client.OldObject, p.client.Live = admission.Create, nil, false
		return p.create(ctx)
	}
	if err != nil {
		return nil, err
	}
	put := !p.client.Applier.ServerSide() && !p.client.Applier.Merges()
	if put {
		if err := named(m.GetName(), p.client.OldObject.Name()); err != nil {
			return nil, err
		}
	}
	p.track(obj)
	old, obj = untracked(old), untracked(obj)
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(p.objectNamespace(), m); err != nil {
		return nil, err
	}
	if put {
		if err := p.sameUID(m, old); err != nil {
			return nil, err
		}
	}
	sent := p.sentVersion(m, old)
	options := &metav1.UpdateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "UpdateOptions"}}
	options.FieldManager, options.FieldValidation = p.client.optionsOf()
	if p.client.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	if put {
		builtin.DedupOwners(ctx, m, false)
	}
	if err := p.mutate(ctx, p.attributes(obj, old, p.name, options)); err != nil {
		return nil, err
	}
	builtin.DedupOwners(ctx, m, true)
	if err := p.versioned(obj, old, m.GetResourceVersion() != sent); err != nil {
		return nil, err
	}
	if err := p.cluster.escalates(ctx, p.handler.resource, obj, old); err != nil {
		return nil, err
	}
	if strategy := p.updateStrategy(); strategy != nil {
		if p.client.Subresource == "" {
			if err := p.cluster.assign(ctx, obj, old, services.Options{DryRun: p.client.DryRun}); err != nil {
				return nil, err
			}
		}
		if err := rest.BeforeUpdate(strategy, ctx, obj, old); err != nil {
			if err := unknown.Tolerate(err, p.unknown.object, p.client.Object.Content()); err != nil {
				return nil, err
			}
			strategy.Canonicalize(obj)
		}
	}
	return p.request(ctx, p.attributes(obj, old, p.name, options))
}

func (p *preparation) updateStrategy() rest.RESTUpdateStrategy {
	if p.client.Subresource == "" {
		return p.handler.Update
	}
	return p.handler.Subresources[p.client.Subresource]
}

// objectNamespace returns the namespace that the object must have
// (rest.ExpectedNamespaceForResource).
func (p *preparation) objectNamespace() string {
	if !p.handler.resource.Namespaced {
		return ""
	}
	return p.namespace
}
