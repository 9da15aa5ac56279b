package sandbox

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// The probe's objects: a policy of each kind with its binding. They are made last and deleted when
// they have their effect: then so does what was made before them in the same kinds.
const probeName = "preadmit-sandbox-probe-"

const policiesRoot = "/apis/admissionregistration.k8s.io/v1/"

// probe returns the objects of the probe, by their collections, in the order in which they are made.
func probe(name string) []call {
	about := map[string]any{
		"resourceRules": []any{map[string]any{"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"configmaps"}}},
	}
	only := []any{map[string]any{"name": "probe", "expression": fmt.Sprintf("request.name == '%s'", name)}}
	object := func(kind string, spec map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
			"metadata": map[string]any{"name": name}, "spec": spec,
		}
	}
	made := []call{
		{path: "mutatingadmissionpolicies", body: object("MutatingAdmissionPolicy", map[string]any{
			"matchConstraints": about, "matchConditions": only, "failurePolicy": "Ignore", "reinvocationPolicy": "Never",
			"mutations": []any{map[string]any{"patchType": "ApplyConfiguration", "applyConfiguration": map[string]any{"expression": "Object{data: {'mutated': 'yes'}}"}}},
		})},
		{path: "mutatingadmissionpolicybindings", body: object("MutatingAdmissionPolicyBinding", map[string]any{"policyName": name})},
		{path: "validatingadmissionpolicies", body: object("ValidatingAdmissionPolicy", map[string]any{
			"matchConstraints": about, "matchConditions": only, "failurePolicy": "Ignore",
			"validations": []any{map[string]any{"expression": "!has(object.data) || !('mutated' in object.data)", "message": inForceWarning}},
		})},
		{path: "validatingadmissionpolicybindings", body: object("ValidatingAdmissionPolicyBinding", map[string]any{"policyName": name, "validationActions": []any{"Warn"}})},
	}
	for i := range made {
		made[i].method, made[i].path = http.MethodPost, policiesRoot+made[i].path
	}
	return made
}

// inForceWarning is the warning of the probe's policies. No policy can hide it from the client.
const inForceWarning = "policies are in force"

// inForce waits until all policies that were loaded are in force. The server learns of them up to a
// second late.
func (l *Loader) inForce(ctx context.Context) (err error) {
	name := probeName + strings.ToLower(rand.Text()) // data that is kept may have one of an earlier run
	objects := probe(name)
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		for _, q := range objects {
			if _, deleted := l.client.do(ctx, call{method: http.MethodDelete, path: q.path + "/" + name}); err == nil {
				err = deleted
			}
		}
	}()
	for _, q := range objects {
		a, err := l.client.do(ctx, q)
		if err == nil {
			err = a.err()
		}
		if err != nil {
			return fmt.Errorf("make a policy that shows when others are in force: %w", err)
		}
	}
	request := call{
		method: http.MethodPost, path: "/api/v1/namespaces/default/configmaps", query: url.Values{"dryRun": {"All"}},
		body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}},
	}
	return until(ctx, "the policies to be in force", func(ctx context.Context) (bool, error) {
		a, err := l.client.do(ctx, request)
		if err != nil {
			return false, err
		}
		for _, w := range a.Warnings {
			if strings.HasSuffix(w, inForceWarning) {
				return true, nil
			}
		}
		return false, nil
	})
}
