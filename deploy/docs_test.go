package deploy

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
)

// ingress stands for everybody's own.
const ingress = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: preadmit}
spec: {defaultBackend: {service: {name: preadmit, port: {name: http}}}}
`

// TestDocumentedOverlay builds the kustomization of docs/github-app.md, with a
// configuration as it says.
func TestDocumentedOverlay(t *testing.T) {
	data, err := os.ReadFile("../docs/github-app.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```yaml\n(# kustomization.yaml\n.*?)^```$").FindSubmatch(data)
	serve, err := os.ReadFile("kustomize/base/serve.yaml")
	if block == nil || err != nil {
		t.Fatalf("the example is gone, or %v", err)
	}
	tree := fstest.MapFS{
		"kustomization.yaml": {Data: block[1]}, "ingress.yaml": {Data: []byte(ingress)},
		"serve.yaml": {Data: []byte(strings.Replace(string(serve), "app:\n",
			"publicURL: https://preadmit.example.com\napp:\n  id: 7\n  clientID: Iv1.abc\n", 1))},
	}
	for name, file := range copied(t, os.DirFS("kustomize/base")) {
		tree["kustomize/base/"+name] = file
	}
	if report := judge(t, tree); len(report.Findings)+len(report.Indeterminate)+len(report.Diagnostics) != 0 || report.Summary.Evaluations != 18 {
		t.Errorf("the report says:\n%s", strings.Join(says(report), "\n"))
	}
	d := &deployed{objects: objects(t, tree), pod: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}}}
	if c, err := d.readConfig(t, func(string) string { return "" }); err != nil || c.App.ID != 7 {
		t.Errorf("configuration %+v, %v", c, err)
	}
}
