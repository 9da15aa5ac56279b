package sandbox

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// The probe consists of a policy of each kind with its binding. They are created last, and deleted
// once they have an effect: then the objects of the same kinds that were created before them have one
// as well.
const probeName = "preadmit-sandbox-probe-"

const policiesRoot = "/apis/admissionregistration.k8s.io/v1/"

// probe returns the calls that create the objects of the probe, in order.
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

// inForceWarning is the warning of the probe's policies. No other policy can suppress it.
const inForceWarning = "policies are in force"

// inForce waits until all policies that were loaded are in force. The server notices them with a
// delay of up to a second.
func (l *Loader) inForce(ctx context.Context) (err error) {
	name := probeName + strings.ToLower(rand.Text()) // random, since kept data may have the probe of an earlier run
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
