package admission

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestScopeOfADefinitionIsImmutable(t *testing.T) {
	cluster := strings.Replace(widgets, "scope: Namespaced", "scope: Cluster", 1)
	_, _, err := open(t).Prepare(context.Background(), ask("UPDATE", object(t, cluster), object(t, widgets)))
	if err == nil || !strings.Contains(err.Error(), `spec.scope: Invalid value: "Cluster": field is immutable`) {
		t.Errorf("error %v", err)
	}
}

// TestWhatWasNeverStoredIsCreated: an old object that does not decode was never on a
// server.
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
