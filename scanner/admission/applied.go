package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/etcd"
	"github.com/preadmit/preadmit/scanner/admission/size"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// sent returns the new object of a request: the decoded body, or the result of applying it over live,
// which is nil for a new object.
func (p *preparation) sent(ctx context.Context, o *Object, live runtime.Object) (runtime.Object, metav1.Object, error) {
	by := p.client.Applier
	switch {
	case p.client.Subresource != "" || p.handler.resource.Assumed:
		return p.decode(ctx, o)
	case by.ServerSide() && (live != nil || !p.isPlain(o)):
		return p.serverSide(ctx, o, live)
	case by.ServerSide():
		return p.createdPlain(ctx, o)
	case by.Merges() && live != nil:
		return p.merged(ctx, o, live)
	case by.Merges() || by.Replaces() && apply.IsAnnotated(p.client.Storage.content(o)):
		content, err := by.Sent(p.placed(o))
		if err != nil {
			return nil, nil, err
		}
		return p.decode(ctx, NewObject(content))
	}
	return p.decode(ctx, o)
}

// sameUID returns an error if the body has another UID than old, the stored object.
func (p *preparation) sameUID(m metav1.Object, old runtime.Object) error {
	r := p.handler.resource
	return etcd.SameUID(m.GetUID(), old, etcd.Place{Resource: r.GroupResource(), Custom: r.Custom, Namespace: p.objectNamespace(), Name: p.name, DryRun: p.client.DryRun})
}

// sentVersion returns the resourceVersion of the body, before plugins change it. A client other than an
// applier is taken to know the version of old, the stored object.
func (p *preparation) sentVersion(m metav1.Object, old runtime.Object) string {
	if stored, err := meta.Accessor(old); p.client.Applier == "" && err == nil {
		m.SetResourceVersion(stored.GetResourceVersion())
	}
	return m.GetResourceVersion()
}

// versioned returns an error if an update has another resourceVersion than old, the stored object, which is
// nil for a new object. changed is set if a plugin or policy wrote the version.
func (p *preparation) versioned(obj, old runtime.Object, changed bool) error {
	by, kind, strategy := p.client.Applier, p.handler.resource, p.handler.Update
	err := etcd.Versioned(obj, old, kind.GroupResource(), p.name, by.Replaces() || kind.Assumed || strategy == nil || strategy.AllowUnconditionalUpdate())
	switch {
	case old == nil && !by.ServerSide():
		return nil // kubectl creates without a resourceVersion
	case !errors.Is(err, etcd.ErrOtherVersion):
		return err
	case changed || p.client.Live && (&unstructured.Unstructured{Object: p.client.OldObject.Content()}).GetResourceVersion() != "":
		return apierrors.NewConflict(kind.GroupResource(), p.name, err)
	}
	why := "the manifest has one, and the server takes it only while the object has just that"
	return &unknown.Error{What: "whether the server takes the object", Fields: []render.Unknown{{Path: []string{"metadata", "resourceVersion"}, Reason: why}}}
}

// fits returns an error if the body of a request is too large, and sets large for a large object.
func (p *preparation) fits() error {
	o := p.client.Object
	if o == nil || p.client.GeneratedName || p.client.Subresource != "" {
		return nil
	}
	text, err := o.JSON()
	if err != nil || len(text) < size.MaxStored/4 {
		return err
	}
	if p.handler.resource.Kind.GroupKind() == kinds.Definition && p.client.OldObject == nil && p.client.Mutator == nil && !p.client.Applier.Merges() {
		if bytes, err := size.OfDefinition(text); err != nil || size.Stored(bytes) == nil {
			return err
		}
	}
	p.large = true
	bytes, err := p.client.Applier.Sends(p.placed(o), p.client.Operation == admission.Update)
	if err != nil {
		return err
	}
	return size.Request(bytes)
}

// track records the managers of the fields of a large object, which are stored with it: those that
// applying set, or the applier as manager of all fields.
func (p *preparation) track(obj runtime.Object) {
	if p.large {
		p.managed, p.untrackable = p.managers(obj)
	}
}

func (p *preparation) managers(obj runtime.Object) ([]metav1.ManagedFieldsEntry, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	if managed := m.GetManagedFields(); len(managed) > 0 {
		return managed, nil
	}
	fields, err := p.handler.fields()
	if err != nil {
		return nil, err
	}
	empty, err := fields.Create()
	if err != nil {
		return nil, err
	}
	if m, err = meta.Accessor(fields.UpdateNoErrors(empty, obj.DeepCopyObject(), p.client.Applier.Manager())); err != nil {
		return nil, err
	}
	return m.GetManagedFields(), nil
}

// isPlain reports whether applying a new object has the same result as creating it.
func (p *preparation) isPlain(o *Object) bool {
	text, err := o.JSON()
	switch {
	case p.tracked || p.large || err != nil:
		return false
	case p.handler.resource.Kind.GroupKind() == kinds.Definition: // creation resets the status that Flux sends
		return apply.PlainDefinition(text) && (p.client.Applier != apply.Flux || !bytes.Contains(text, []byte(`"caBundle"`)))
	}
	m, ok := apply.ReadManifest(text)
	return ok && !m.Has("status") && (p.client.Applier != apply.KubectlSSA || !apply.IsAnnotated(p.client.Storage.content(o))) &&
		p.handler.plain(o, &m) && (p.client.Applier != apply.Flux || !apply.Decodes(o.GroupVersionKind()) || m.IsNormal())
}

// createdPlain creates an object instead of applying it, which is faster, unless it has fields that
// the kind does not know.
func (p *preparation) createdPlain(ctx context.Context, o *Object) (runtime.Object, metav1.Object, error) {
	var strict warnings
	obj, m, err := p.decode(warning.WithWarningRecorder(ctx, &strict), o)
	if err != nil || len(strict.texts) > 0 {
		return p.serverSide(ctx, o, nil)
	}
	return obj, m, nil
}

// placed returns the content of the body with the namespace that clients set.
func (p *preparation) placed(o *Object) map[string]any {
	content := p.client.Storage.content(o)
	if p.objectNamespace() == "" || o.Namespace() != "" {
		return content
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(content)}
	u.SetNamespace(p.objectNamespace())
	return u.Object
}

// manifest returns the content of the body as its applier sends it.
func (p *preparation) manifest(o *Object) map[string]any {
	return p.client.Applier.Manifest(p.placed(o))
}

// mayRenew reports whether the applier of a request is certainly the only manager of the object, so that
// applying over it needs no managed fields.
func (p *preparation) mayRenew() bool {
	in := &p.client
	return in.Applier.ServerSide() && in.Subresource == "" && in.OldObject != nil && !in.Live && in.controls == nil && in.StoredMutator == nil && !p.large && !p.handler.resource.Assumed
}

// repeats returns the object as written, nil if applying it may do more than change scalars.
func (p *preparation) repeats() (now *apply.Applied) {
	if !p.mayRenew() {
		return nil
	}
	if now = p.client.Storage.asWritten(p); p.client.Object != p.client.OldObject {
		now = now.Like(p.placed(p.client.Object))
	}
	p.same, p.whole = true, true
	return now
}

// renews returns the object as applied over the stored one, if that needs no managed fields; nil if it does,
// or may.
func (p *preparation) renews() *apply.Applied {
	if !p.mayRenew() {
		return nil
	}
	in := &p.client
	last, now := p.client.Storage.applied(p, in.OldObject, nil), manifest{}
	if now = last; in.Object != in.OldObject {
		like := last.Applied
		if p.handler.resource.Custom {
			like = nil // merging keeps a null creationTimestamp, as Flux sends it; Again does not always
		}
		now = p.client.Storage.applied(p, in.Object, like)
	}
	if !now.Renews(last.Applied) {
		return nil
	}
	p.same, p.whole = now.Follows(last.Applied), now.whole
	return now.Applied
}

// serverSide applies an object on the server.
func (p *preparation) serverSide(ctx context.Context, o *Object, live runtime.Object) (obj runtime.Object, m metav1.Object, err error) {
	if p.client.Applier == apply.Flux && !(p.renewal != nil && p.whole) {
		p.drops(o)
	}
	if p.renewal != nil {
		return p.renewed(live)
	}
	manifest := p.manifest(o)
	fields, err := p.handler.fields()
	if err != nil {
		return nil, nil, err
	}
	obj, err = fields.Apply(live, manifest, p.client.Applier)
	if p.assumed && apierrors.IsConflict(err) {
		managers := render.Unknown{Path: []string{"metadata", "managedFields"}, Reason: "kubectl get --show-managed-fields shows them"}
		return nil, nil, &unknown.Error{What: "whether the server takes the object", Fields: []render.Unknown{managers}}
	}
	if err != nil && p.lenient {
		if decoded, _, failed := p.handler.decode(o); failed == nil {
			obj, err = fields.Apply(live, fields.Known(manifest, decoded), p.client.Applier)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if m, err = meta.Accessor(obj); err != nil {
		return nil, nil, fmt.Errorf("%s has no metadata: %w", p.handler.resource.Kind.Kind, err)
	}
	if uid := m.GetUID(); live == nil && uid != "" {
		return nil, nil, apierrors.NewConflict(p.handler.resource.GroupResource(), p.name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	return obj, m, nil
}

// renewed applies the renewal over an object.
func (p *preparation) renewed(live runtime.Object) (obj runtime.Object, m metav1.Object, err error) {
	ok := false
	if p.same && p.client.Storage.has(p, live) {
		if content, err := p.client.Storage.object.Content(p.handler.resource.Kind, p.handler.interfaces); err == nil {
			obj, ok = p.renewal.Again(live, content)
		}
	}
	switch {
	case ok:
	case p.renewal.IsWritten():
		return nil, nil, errors.New("more than scalars differ")
	default:
		if obj, err = p.renewal.Over(live); err != nil {
			return nil, nil, err
		}
	}
	m, err = meta.Accessor(obj)
	return obj, m, err
}

// drops records the fields that Flux does not send because its client does not know them.
func (p *preparation) drops(o *Object) {
	if p.handler.resource.Custom {
		return
	}
	if _, unknown, err := p.handler.decode(o); err == nil {
		p.dropped = append(p.dropped, unknown...)
	}
}

// merged applies an object with a three-way merge, as kubectl apply does.
func (p *preparation) merged(ctx context.Context, o *Object, live runtime.Object) (runtime.Object, metav1.Object, error) {
	modified, err := apply.Annotated(p.placed(o))
	if err != nil {
		return nil, nil, err
	}
	kind := p.handler.resource.Kind
	if p.handler.resource.Custom {
		current, err := Content(live)
		if err != nil {
			return nil, nil, err
		}
		text, err := apply.NewMerge(current, modified).JSON()
		if err != nil {
			return nil, nil, err
		}
		return p.decodePatched(ctx, text)
	}
	scheme := builtin.CodecOf(kind.Group).Scheme
	versioned, err := scheme.ConvertToVersion(live, kind.GroupVersion())
	if err != nil {
		return nil, nil, fmt.Errorf("convert %s: %w", kind.Kind, err)
	}
	current, err := Content(versioned)
	if err != nil {
		return nil, nil, err
	}
	into, err := scheme.New(kind)
	if err != nil {
		return nil, nil, fmt.Errorf("make a %s: %w", kind.Kind, err)
	}
	unknown, patch, err := apply.NewMerge(current, modified).Into(into)
	if err != nil {
		return nil, nil, err
	}
	if err := p.strict(ctx, unknown, patch); err != nil {
		return nil, nil, err
	}
	scheme.Default(into)
	obj, err := scheme.ConvertToVersion(into, schema.GroupVersion{Group: kind.Group, Version: runtime.APIVersionInternal})
	if err != nil {
		return nil, nil, fmt.Errorf("convert %s: %w", kind.Kind, err)
	}
	m, err := meta.Accessor(obj)
	return obj, m, err
}

// decodePatched decodes a custom resource that is the result of a patch.
func (p *preparation) decodePatched(ctx context.Context, text []byte) (runtime.Object, metav1.Object, error) {
	o := ParseObject(text)
	if p.client.Applier.Validation() != metav1.FieldValidationStrict {
		return p.decode(ctx, o)
	}
	if _, unknown, err := p.handler.decode(o); err == nil && len(unknown) > 0 {
		return nil, nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(text), builtin.StrictError(unknown).Error())})
	}
	return p.decode(ctx, o)
}

// strict adds warnings for the errors of strict decoding of a patch, or returns an error if the client
// requests strict validation.
func (p *preparation) strict(ctx context.Context, errs []error, patch string) error {
	if len(errs) > 0 && p.client.Applier.Validation() == metav1.FieldValidationStrict {
		return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), patch, runtime.NewStrictDecodingError(errs).Error())})
	}
	for _, err := range errs {
		warning.AddWarning(ctx, "", err.Error())
	}
	return nil
}

// untracked returns an object without its managed fields, which are only needed for applying.
func untracked(obj runtime.Object) runtime.Object {
	if m, err := meta.Accessor(obj); err == nil && m.GetManagedFields() != nil {
		m.SetManagedFields(nil)
	}
	return obj
}

// optionsOf returns the field manager and the field validation that a client sends as options of a
// request.
func (a ClientRequest) optionsOf() (fieldManager, fieldValidation string) {
	return a.Applier.Manager(), a.Applier.Validation()
}
