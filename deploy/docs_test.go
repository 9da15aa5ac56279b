// Package deploy tests what preadmit is deployed by.
package deploy

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/preadmit/preadmit/internal/deploytest"
)

// TestDocumentedOverlay builds the kustomization of docs/github-app.md, and reads the
// configuration that it gives to the service.
func TestDocumentedOverlay(t *testing.T) {
	d := &deployed{
		objects: deploytest.Objects(t, deploytest.Overlay(t, ".")),
		pod:     corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}},
	}
	if c, err := d.readConfig(t, func(string) string { return "" }); err != nil || c.App.ID != 7 {
		t.Errorf("configuration %+v, %v", c, err)
	}
}
