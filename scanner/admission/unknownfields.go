package admission

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission/builtin"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// unknown returns the unknown fields of the objects of a client request.
func (a ClientRequest) unknown() []render.Unknown {
	var fields []render.Unknown
	for _, o := range []*Object{a.Object, a.OldObject} {
		if o != nil {
			fields = append(fields, o.Unknown...)
		}
	}
	return fields
}

// prepareUnknown prepares a client request about objects with unknown fields, with several stand-ins for their
// values.
func (c *Cluster) prepareUnknown(ctx context.Context, in ClientRequest) (*Request, []string, error) {
	if f := unknown.Identity(in.unknown()); f != nil && !in.GeneratedName {
		return nil, nil, &unknown.Error{What: "which object this is", Fields: []render.Unknown{*f}}
	}
	s, err := c.standIns(in.Main().GroupVersionKind())
	if err != nil {
		return nil, nil, err
	}
	runs, err := c.prepareAll(ctx, in, s)
	if err == nil && len(runs.accepted) == 0 {
		s.AddQuoted(runs.refusals)
		for _, o := range []*Object{in.Object, in.OldObject} {
			if o != nil {
				s.Among(o.Content())
			}
		}
		runs, err = c.prepareAll(ctx, in, s)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := unknown.Settle(runs.refusals, len(runs.accepted), in.unknown()); err != nil {
		return nil, runs.warnings, err
	}
	req := runs.accepted[0]
	req.others, req.standIns = runs.accepted[1:], s
	req.unknown, req.unknownOld = unknownOf(in.Object), unknownOf(in.OldObject)
	return req, runs.warnings, nil
}

func unknownOf(o *Object) []render.Unknown {
	if o == nil {
		return nil
	}
	return o.Unknown
}

// preparedRuns are the results of preparing a client request with several stand-ins.
type preparedRuns struct {
	accepted []*Request
	refusals []unknown.Refusal
	// warnings are those that all accepted runs have in common.
	warnings []string
}

func (c *Cluster) prepareAll(ctx context.Context, in ClientRequest, s *unknown.StandIns) (runs preparedRuns, err error) {
	n := 0
	for _, o := range []*Object{in.Object, in.OldObject} {
		if o != nil {
			n = max(n, s.Runs(o.Content(), o.Unknown))
		}
	}
	for run := range n {
		filled := in
		filled.Object, filled.OldObject = in.Object.filled(s, in.OldObject, run), in.OldObject.filled(s, in.Object, run)
		req, warned, err := c.prepare(ctx, filled, unknownFields{unknownOf(in.Object), unknownOf(in.OldObject)})
		if filled.Object != nil {
			warned = unknown.Warnings(warned, filled.Object.Content(), unknownOf(in.Object))
		}
		var refusal *apierrors.StatusError
		switch {
		case errors.As(err, &refusal):
			runs.refusals = append(runs.refusals, unknown.Refusal{StatusError: refusal, Object: filled.Main().Content()})
			continue
		case err != nil:
			return runs, err
		case len(runs.accepted) == 0:
			runs.warnings = warned
		default:
			runs.warnings = slices.DeleteFunc(runs.warnings, func(w string) bool { return !slices.Contains(warned, w) })
		}
		runs.accepted = append(runs.accepted, req)
	}
	return runs, nil
}

// filled returns the object with the stand-ins of a run for its unknown fields. other is the object
// before the change or after it, if there is one.
func (o *Object) filled(s *unknown.StandIns, other *Object, run int) *Object {
	if o == nil || len(o.Unknown) == 0 {
		return o
	}
	var otherContent map[string]any
	if other != nil {
		otherContent = other.Content()
	}
	filled := NewObject(s.Fill(o.Content(), otherContent, o.Unknown, run))
	filled.Tag = o.Tag
	return filled
}

// standIns returns stand-ins for the values of a kind.
func (c *Cluster) standIns(kind schema.GroupVersionKind) (*unknown.StandIns, error) {
	if _, ok := builtin.Of(kind); ok {
		obj, err := builtin.CodecOf(kind.Group).Scheme.New(kind)
		if err != nil {
			return nil, fmt.Errorf("make a %s: %w", kind.Kind, err)
		}
		return unknown.New(unknown.Of(reflect.TypeOf(obj), builtin.Enumerated)), nil
	}
	if _, ok := c.Resource(kind); !ok {
		return nil, c.UnknownKind(kind)
	}
	d, err := c.definition(kind)
	if err != nil {
		return nil, err
	}
	return unknown.New(unknown.OfCustom(d.Schema(kind.Version))), nil
}

// StoredContent returns an object of the state as expressions see it in a version of its kind. known
// has an unknown.Value in place of each unknown value, like Version.KnownObject; it is nil when all
// values are known.
func (c *Cluster) StoredContent(o *Object, kind schema.GroupVersionKind) (content map[string]any, known any, err error) {
	contents, written, err := c.storedContents(o, kind)
	if err != nil {
		return nil, nil, err
	}
	content = contents[0]
	if len(o.Unknown) > 0 {
		content = written(contents[0])
		contents[0] = unknown.Merge(contents, o.Unknown, nil)
		known = contents[0]
	}
	if served, ok := c.Resource(kind); ok && served.Assumed {
		known = unknown.WithoutSchema(kind, contents[0])
	}
	return content, known, nil
}

// storedContents returns an object as it is stored with each of the stand-ins for its unknown fields,
// and a function that restores the written values in their place.
func (c *Cluster) storedContents(o *Object, kind schema.GroupVersionKind) (contents []map[string]any, written func(map[string]any) map[string]any, err error) {
	if len(o.Unknown) == 0 {
		obj, err := c.Stored(o, kind)
		if err != nil {
			return nil, nil, err
		}
		content, err := Content(obj)
		return []map[string]any{content}, nil, err
	}
	s, err := c.standIns(o.GroupVersionKind())
	if err != nil {
		return nil, nil, err
	}
	for run := range s.Runs(o.Content(), o.Unknown) {
		obj, err := c.Stored(o.filled(s, nil, run), kind)
		if err != nil {
			continue // the field cannot have this value
		}
		content, err := Content(obj)
		if err != nil {
			return nil, nil, err
		}
		contents = append(contents, content)
	}
	if len(contents) == 0 {
		return nil, nil, &unknown.Error{What: "how the API server stores " + o.Name(), Fields: o.Unknown}
	}
	return contents, s.Written, nil
}

// UnknownOfNamespace returns the unknown fields of a namespace.
func (c *Cluster) UnknownOfNamespace(name string) []render.Unknown {
	if o := c.getClusterScoped(kinds.Namespace, name); o != nil {
		return o.Unknown
	}
	return nil
}

// podSecurityUnknown returns an error if the Pod Security level of a namespace is unknown and the
// plugin judges the resource.
func (c *Cluster) podSecurityUnknown(r Resource, namespace string) error {
	if !podSecurityResources[r.GroupResource()] || r.Kind.GroupKind() == kinds.Namespace {
		return nil
	}
	for _, f := range c.UnknownOfNamespace(namespace) {
		if len(f.Path) <= 2 && unknown.Below(f.Path, []render.Unknown{{Path: []string{"metadata", "labels", ""}}}) ||
			len(f.Path) == 3 && f.Path[1] == "labels" && strings.HasPrefix(f.Path[2], podSecurityPrefix) {
			return &unknown.Error{What: "the Pod Security level of namespace " + namespace, Fields: []render.Unknown{f}}
		}
	}
	return nil
}

const podSecurityPrefix = "pod-security.kubernetes.io/"

// storable returns an object as the server can store it: with the first stand-ins for its unknown
// fields.
func (c *Cluster) storable(o *Object) (*Object, error) {
	if len(o.Unknown) == 0 {
		return o, nil
	}
	s, err := c.standIns(o.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	return o.filled(s, nil, 0), nil
}
