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

// Ask is a client's request to the API server.
type Ask struct {
	// Operation is admission.Create, Update or Delete.
	Operation admission.Operation
	// Subresource is empty for the object itself.
	Subresource string
	User        user.Info
	// Object is what is sent (CREATE, UPDATE), OldObject what is stored (UPDATE,
	// DELETE) as it was once sent.
	Object, OldObject *Object
	// Live is set where OldObject is as a cluster has it, with what others than the applier
	// wrote. Last is then what the applier last sent, nil if it never did.
	Live   bool
	Last   *Object
	DryRun bool
	// Applier is the tool that applies the object. The zero value sends it as it is: a
	// POST or a PUT.
	Applier apply.Applier
	// MadeUp is set when the name of the object does not matter: a controller made it up.
	MadeUp bool

	// Mutator changes what is sent, and StoredMutator changed what is stored when it was made; nil
	// where nothing does.
	Mutator, StoredMutator Mutator

	// Storage keeps OldObject as it is stored for other requests; nil where there are none.
	Storage *Storage

	// controls are the fields of OldObject that controllers have written, nil for none.
	controls *controlled.Fields
}

// Main returns the object that the request is about, nil when there is none.
func (a Ask) Main() *Object {
	if a.Object != nil {
		return a.Object
	}
	return a.OldObject
}

// Prepare takes an ask to the point where validating admission runs: decoding,
// defaulting, the built-in mutating plugins, and the registry's preparation and
// validation, in the order of a kube-apiserver's handlers.
//
// The error is a *apierrors.StatusError when the server itself refuses, an
// *UnknownKindError when nothing defines the kind, a *ConversionError when a
// webhook would have to convert the stored object; any other error is a defect.
// Warnings are those the server sends, in order, also along with a refusal.
//
// Of an object with unknown fields it is an *unknown.Error when the answer depends on
// them.
func (c *Cluster) Prepare(ctx context.Context, ask Ask) (req *Request, warned []string, err error) {
	key, ok := c.policyCreation(ask)
	if !ok {
		return c.prepareAsk(ctx, ask)
	}
	p := c.opts.Policies.Of(key, func() (p prepared) {
		p.request, p.warnings, p.err = c.prepareAsk(ctx, ask)
		return p
	})
	return p.request, p.warnings, p.err
}

func (c *Cluster) prepareAsk(ctx context.Context, ask Ask) (req *Request, warned []string, err error) {
	if ask.Applier != "" && ask.Subresource == "" && ask.OldObject != nil {
		ask.controls = c.controlledFieldsOf(ask)
	}
	if req, warned, err = c.prepareControlled(ctx, ask); err == nil {
		err = c.noteControlled(req, ask.controls)
		req.ask, req.ask.Storage = ask, nil
	}
	return req, warned, err
}

// prepareFilled prepares an ask, with stand-ins for what is not known of its objects.
func (c *Cluster) prepareFilled(ctx context.Context, ask Ask) (*Request, []string, error) {
	if ask.Main() != nil && len(ask.unknown()) > 0 {
		return c.prepareUnknown(ctx, ask)
	}
	return c.prepare(ctx, ask, unknownFields{})
}

// prepare takes an ask to where validating admission runs. What is wrong with unknown
// fields, which have stand-ins, is nobody's fault.
func (c *Cluster) prepare(ctx context.Context, ask Ask, fields unknownFields) (req *Request, warned []string, err error) {
	defer refusal.Panicked(&err)
	main := ask.addressed()
	if main == nil {
		return nil, nil, errors.New("a request needs an object")
	}
	h, err := c.handler(main.GroupVersionKind())
	if err != nil {
		return nil, nil, err
	}
	recorder := &warnings{}
	p := &preparation{cluster: c, handler: h, ask: ask, unknown: fields, namespace: c.requestNamespace(h.resource, main), name: main.Name()}
	if h.resource.Kind.GroupKind() == kinds.Namespace && p.name != "" {
		p.namespace = p.name // a Namespace lives in itself, for admission
	}
	ctx = p.context(warning.WithWarningRecorder(ctx, recorder))
	if err = h.resource.Serves(ask.Subresource, ask.Operation, p.name); err == nil {
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
		req.dropped, req.madeUp, req.asStored = p.dropped, ask.MadeUp, ask.Storage.known()
	}
	if h.resource.Kind.GroupKind() == kinds.Definition {
		slices.Sort(recorder.texts) // the server has those about formats in the order of a map
	}
	return req, recorder.texts, refusal.Ordered(err, h.resource.Custom, main.Content)
}

// warnings collects what the server would send as Warning headers.
type warnings struct{ texts []string }

// AddWarning implements warning.Recorder.
func (w *warnings) AddWarning(_, text string) { w.texts = append(w.texts, text) }

// NeverStoredError says that the old object does not decode, so that no server can
// have it. What would update it creates it.
type NeverStoredError struct{ Message string }

func (e *NeverStoredError) Error() string {
	return "the server cannot have had the object as it was before: " + e.Message
}

// unknownFields are fields of an object and of the old object that have stand-ins.
type unknownFields struct{ object, old []render.Unknown }

// preparation is the handling of one ask.
type preparation struct {
	cluster         *Cluster
	handler         *handler
	ask             Ask
	unknown         unknownFields
	namespace, name string
	// tracked is set when the managers of fields must be known afterwards.
	tracked bool
	// renewal applies the object of an update; nil where that takes the managers of fields.
	renewal *apply.Applied
	// same is set where that is the manifest that the object is stored from, or like it, and whole where its
	// applier sends all its fields.
	same, whole bool
	// lenient is set for an object that is stored already: fields that its kind does not know, or
	// no longer, are dropped, whatever its applier asks for.
	lenient bool
	// assumed is set where the managers of the fields of the object before are not known.
	assumed bool
	// dropped are warnings about fields that the applier does not send.
	dropped []string
	// large is set for an object that etcd may not take. Then managed are the managers of its
	// fields, and untrackable is why they are not known.
	large       bool
	managed     []metav1.ManagedFieldsEntry
	untrackable error
}

func (p *preparation) run(ctx context.Context) (*Request, error) {
	if p.ask.Subresource == "scale" {
		return p.scale(ctx)
	}
	switch p.ask.Operation {
	case admission.Create:
		return p.create(ctx)
	case admission.Update:
		return p.update(ctx)
	case admission.Delete:
		return p.delete(ctx)
	}
	return nil, fmt.Errorf("unsupported operation %s", p.ask.Operation)
}

// context carries what registry strategies read from it.
func (p *preparation) context(ctx context.Context) context.Context {
	r := p.handler.resource
	ctx = request.WithNamespace(ctx, p.namespace)
	if p.ask.User != nil {
		ctx = request.WithUser(ctx, p.ask.User)
	}
	return request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true,
		Verb:              builtin.Verb(p.ask.Operation),
		APIGroup:          r.Group,
		APIVersion:        r.Version,
		Resource:          r.Resource,
		Subresource:       p.ask.Subresource,
		Namespace:         p.namespace,
		Name:              p.name,
	})
}

// decode decodes what is sent and reports unknown fields as warnings.
func (p *preparation) decode(ctx context.Context, sent *Object) (runtime.Object, metav1.Object, error) {
	obj, unknown, err := p.handler.decode(sent)
	if err != nil {
		return nil, nil, err
	}
	if len(unknown) > 0 && !p.lenient && p.ask.Applier.Validation() == metav1.FieldValidationStrict {
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
	obj, m, err := p.sent(ctx, p.ask.Object, nil)
	if err != nil {
		return nil, err
	}
	p.track(obj)
	untracked(obj)
	patched := p.ask.Applier.ServerSide()
	if !patched {
		rest.WipeObjectMetaSystemFields(m)
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(p.objectNamespace(), m); err != nil {
		return nil, err
	}
	options := &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "CreateOptions"}}
	options.FieldManager, options.FieldValidation = p.ask.optionsOf()
	if p.ask.DryRun {
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
		if err := p.cluster.assign(ctx, obj, nil, services.Options{DryRun: p.ask.DryRun}); err != nil {
			return nil, err
		}
		if err := rest.BeforeCreate(p.handler.Create, ctx, obj); err != nil {
			if err := unknown.Tolerate(err, p.unknown.object, p.ask.Object.Content()); err != nil {
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
	if errors.As(err, &never) && p.ask.Subresource == "" {
		p.ask.Operation, p.ask.OldObject, p.ask.Live = admission.Create, nil, false
		return p.create(ctx)
	}
	if err != nil {
		return nil, err
	}
	put := !p.ask.Applier.ServerSide() && !p.ask.Applier.Merges()
	if put {
		if err := named(m.GetName(), p.ask.OldObject.Name()); err != nil {
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
	options.FieldManager, options.FieldValidation = p.ask.optionsOf()
	if p.ask.DryRun {
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
		if p.ask.Subresource == "" {
			if err := p.cluster.assign(ctx, obj, old, services.Options{DryRun: p.ask.DryRun}); err != nil {
				return nil, err
			}
		}
		if err := rest.BeforeUpdate(strategy, ctx, obj, old); err != nil {
			if err := unknown.Tolerate(err, p.unknown.object, p.ask.Object.Content()); err != nil {
				return nil, err
			}
			strategy.Canonicalize(obj)
		}
	}
	return p.request(ctx, p.attributes(obj, old, p.name, options))
}

func (p *preparation) updateStrategy() rest.RESTUpdateStrategy {
	if p.ask.Subresource == "" {
		return p.handler.Update
	}
	return p.handler.Subresources[p.ask.Subresource]
}

// objectNamespace is the namespace the object must have
// (rest.ExpectedNamespaceForResource).
func (p *preparation) objectNamespace() string {
	if !p.handler.resource.Namespaced {
		return ""
	}
	return p.namespace
}
