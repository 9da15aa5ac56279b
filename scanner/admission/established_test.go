package admission

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

func TestScopeOfADefinitionIsImmutable(t *testing.T) {
	cluster := strings.Replace(widgets, "scope: Namespaced", "scope: Cluster", 1)
	_, _, err := open(t).Prepare(context.Background(), ask("UPDATE", object(t, cluster), object(t, widgets)))
	if err == nil || !strings.Contains(err.Error(), `spec.scope: Invalid value: "Cluster": field is immutable`) {
		t.Errorf("error %v", err)
	}
}

// TestWhatWasNeverStoredIsCreated: no server has stored an old object that does not decode, so the
// update creates it.
func TestWhatWasNeverStoredIsCreated(t *testing.T) {
	broken := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: 1}}")
	fixed := object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}")
	req, _, err := open(t).Prepare(context.Background(), ask("UPDATE", fixed, broken))
	if err != nil || req.GetOperation() != "CREATE" {
		t.Errorf("%v, error %v", req, err)
	}
	_, _, err = open(t).Prepare(context.Background(), ask("DELETE", nil, broken))
	var never *NeverStoredError
	var refusal *apierrors.StatusError
	if !errors.As(err, &never) || errors.As(err, &refusal) {
		t.Errorf("DELETE: error %v", err)
	}
}

// TestInvalidCABundle: Flux removes invalid certificates, such as the placeholder of kubebuilder. From other
// tools the server accepts them, but does not establish the definition.
func TestInvalidCABundle(t *testing.T) {
	definition := strings.Replace(widgets, "scope: Namespaced",
		"scope: Namespaced\n  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: Cg==, service: {name: a, namespace: b}}}}", 1)
	for by, want := range map[apply.Applier]any{apply.Flux: nil, apply.ArgoCD: "Cg==", apply.ArgoCDSSA: "Cg==", apply.Replace: "Cg==", "": "Cg=="} {
		a := ask("CREATE", object(t, definition), nil)
		a.Applier = by
		req, _, err := open(t).Prepare(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if got := at(seen(t, req), []string{"spec", "conversion", "webhook", "clientConfig", "caBundle"}); got != want {
			t.Errorf("%s: created with %v, want %v", by, got, want)
		}
		a = ask("UPDATE", object(t, strings.Replace(definition, "scope: Namespaced", "scope: Cluster", 1)), object(t, definition))
		a.Applier = by
		if _, _, err = open(t).Prepare(t.Context(), a); (err != nil) != (by == apply.Flux) {
			t.Errorf("%s: another scope: error %v", by, err)
		}
	}
}
