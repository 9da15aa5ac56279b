package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/preadmit/preadmit/e2e/live"
	"github.com/preadmit/preadmit/e2e/updates"
	"github.com/preadmit/preadmit/scanner/admission"
)

// between changes a new object as controllers and others would, and returns it.
func (r *updateRun) between(ctx context.Context, place live.Place, u updates.Update) (map[string]any, error) {
	o, err := r.controlled(ctx, place)
	if err != nil {
		return nil, err
	}
	return r.writtenByOthers(ctx, place, u, o)
}

// controlled changes a new object as controllers would, and returns it.
func (r *updateRun) controlled(ctx context.Context, place live.Place) (map[string]any, error) {
	a, err := r.server.Do(ctx, live.Call{Method: http.MethodGet, Path: place.Path})
	if err != nil {
		return nil, err
	}
	o, err := a.Object()
	if err != nil || o["kind"] != "PersistentVolumeClaim" {
		return o, err
	}
	spec, _ := o["spec"].(map[string]any)
	resources, _ := spec["resources"].(map[string]any)
	status := map[string]any{"phase": "Bound", "accessModes": spec["accessModes"], "capacity": resources["requests"]}
	for _, step := range []struct {
		path  string
		patch map[string]any
	}{{place.Path, map[string]any{"spec": map[string]any{"volumeName": cmp.Or(spec["volumeName"], any("unknown"))}}}, {place.Path + "/status", map[string]any{"status": status}}} {
		query := url.Values{"fieldManager": {"kube-controller-manager"}}
		a, err = r.server.Do(ctx, live.Call{Method: http.MethodPatch, Path: step.path, Query: query, Body: step.patch, ContentType: "application/merge-patch+json"})
		if err = errors.Join(err, a.Err()); err != nil {
			return nil, fmt.Errorf("bind a claim: %w", err)
		}
	}
	return a.Object()
}

// otherManager is the field manager of others.
const otherManager = "other"

// writtenByOthers returns an object after others have written to it, and writes it to the context of
// the scan. If the server refuses the write, the object stays as it is.
func (r *updateRun) writtenByOthers(ctx context.Context, place live.Place, u updates.Update, before map[string]any) (map[string]any, error) {
	if !r.others || strings.Contains(place.Path, "admissionpolic") { // policies are judged as new
		return before, nil
	}
	patch, err := r.generator.Others(u.Number, u.Base)
	if err != nil {
		return nil, err
	}
	a, err := r.server.Do(ctx, live.Call{
		Method: http.MethodPatch, Path: place.Path, Query: url.Values{"fieldManager": {otherManager}},
		Body: patch, ContentType: "application/merge-patch+json",
	})
	if err != nil {
		return nil, fmt.Errorf("write as others: %w", err)
	}
	if a.OK() {
		if before, err = a.Object(); err != nil {
			return nil, err
		}
		r.written++
	}
	return before, r.write("live/"+fileOf(u.Base), admission.NewObject(before))
}
