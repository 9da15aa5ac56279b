package main

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/suite"
)

// definitionKind is the kind of CustomResourceDefinitions.
var definitionKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")

// trees compares the objects of all trees: the answers to their creation and update,
// and the objects as policies see them.
func (c *conformance) trees(ctx context.Context) error {
	for _, path := range c.objects {
		opened, err := c.openTrees(ctx, path)
		if err != nil {
			return err
		}
		found := newCollection()
		for _, t := range opened {
			fmt.Fprintf(c.progress, "render %s\n", t.name)
			if err := found.add(ctx, t); err != nil {
				return err
			}
		}
		fmt.Fprintf(c.progress, "%s: %d objects of %d roots, %d roots are not rendered\n", path, len(found.seen), found.roots, found.failed)
		if err := c.collection(ctx, path, found); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// collection compares the creation of definitions and namespaces, then of the other
// objects with these in the state, then updates of these objects.
func (c *conformance) collection(ctx context.Context, name string, found *collection) error {
	definitions, rest := &suite.Suite{}, &suite.Suite{}
	for _, v := range found.all {
		s := rest
		if isDefinition(v.key) {
			s = definitions
		}
		for _, o := range v.objects {
			s.Requests = append(s.Requests, suite.Request{
				Name: fmt.Sprintf("create %s #%d", v.key, len(s.Requests)), Operation: "CREATE", Object: o.Content(),
			})
		}
	}
	created, err := c.generated(ctx, name+" definitions", definitions)
	if err != nil {
		return err
	}
	rest.Context = stateFor(found, created)
	if _, err = c.generated(ctx, name+" objects", rest); err != nil {
		return err
	}
	updates := &suite.Suite{Context: rest.Context, Requests: updatesOf(found)}
	_, err = c.generated(ctx, name+" updates", updates)
	return err
}

// generated replays a suite and compares. It returns nil if the suite has no requests
// or cannot be replayed.
func (c *conformance) generated(ctx context.Context, name string, s *suite.Suite) (*replayed, error) {
	if len(s.Requests) == 0 {
		return nil, nil
	}
	fmt.Fprintf(c.progress, "%s: %d requests\n", name, len(s.Requests))
	r, err := c.replay(ctx, name, s)
	if err != nil || r == nil {
		return nil, err
	}
	r.generated = true
	return r, c.compare(ctx, []*replayed{r})
}

// stateFor returns the state for the objects: their namespaces, and the definitions
// that the server accepts.
func stateFor(found *collection, definitions *replayed) []*admission.Object {
	var state []*admission.Object
	have := map[string]bool{}
	for _, v := range found.all {
		if n := v.key.Namespace; n != "" && !have[n] {
			have[n] = true
			state = append(state, admission.NewObject(map[string]any{
				"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": n},
			}))
		}
	}
	if definitions == nil {
		return state
	}
	for i := range definitions.Requests {
		o := admission.NewObject(definitions.Requests[i].Object)
		accepted := definitions.record.Objects[definitions.Requests[i].Name] != nil
		if o.GroupVersionKind() == definitionKind && accepted && !have["crd/"+o.Name()] {
			have["crd/"+o.Name()] = true
			state = append(state, o)
		}
	}
	return state
}

// isDefinition reports whether an object is a Namespace or a CustomResourceDefinition,
// which other objects need.
func isDefinition(key admission.Key) bool {
	return key.Group == "" && key.Kind == "Namespace" || key.Group == definitionKind.Group && key.Kind == definitionKind.Kind
}

// updatesOf returns updates of every object to itself, and to its next version.
func updatesOf(found *collection) []suite.Request {
	var all []suite.Request
	for _, v := range found.all {
		if v.key.Name == "" || isDefinition(v.key) {
			continue
		}
		for i, o := range v.objects {
			next := []*admission.Object{o}
			if i+1 < len(v.objects) {
				next = append(next, v.objects[i+1])
			}
			for _, n := range next {
				all = append(all, suite.Request{
					Name: fmt.Sprintf("update %s #%d", v.key, len(all)), Operation: "UPDATE", Object: n.Content(), OldObject: o.Content(),
				})
			}
		}
	}
	return all
}
