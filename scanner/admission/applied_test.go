package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/util/cert"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// TestApplied compares appliers: the result of applying an object over the one that each of them
// applied before.
func TestApplied(t *testing.T) {
	deployment := func(spec, container string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {" + spec +
			"selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: web, " + container + "}]}}}}"
	}
	widget := func(spec string) string {
		return "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: shop}, spec: {" + spec + "}}"
	}
	pull := []string{"spec", "template", "spec", "containers", "0", "imagePullPolicy"}
	for _, test := range []struct {
		name         string
		before, sent string
		field        []string
		// want is the field by applier, or the beginning of the refusal after "!".
		want map[apply.Applier]any
	}{
		{
			"a default chosen at creation stays", deployment("", `image: "web:latest"`), deployment("", `image: "web:1"`), pull,
			map[apply.Applier]any{"": "IfNotPresent", apply.Replace: "IfNotPresent", apply.Flux: "Always", apply.ArgoCD: "Always", apply.ArgoCDSSA: "Always", apply.Kubectl: "Always", apply.KubectlSSA: "Always"},
		},
		{
			"a field that is no longer applied has its default", deployment("replicas: 3, ", "image: web"), deployment("", "image: web"), []string{"spec", "replicas"},
			map[apply.Applier]any{"": int64(1), apply.Flux: int64(1), apply.ArgoCD: int64(1), apply.KubectlSSA: int64(1)},
		},
		{
			"Recreate keeps rollingUpdate on the server", deployment("", "image: web"), deployment("strategy: {type: Recreate}, ", "image: web"), []string{"spec", "strategy", "type"},
			map[apply.Applier]any{"": "Recreate", apply.ArgoCD: "Recreate", apply.Flux: "!Deployment.apps \"web\" is invalid: spec.strategy.rollingUpdate", apply.ArgoCDSSA: "!Deployment.apps \"web\" is invalid: spec.strategy.rollingUpdate"},
		},
		{
			"an unknown field", deployment("", "image: web"), deployment("replica: 2, ", "image: web"), []string{"spec", "replicas"},
			map[apply.Applier]any{"": int64(1), apply.Flux: int64(1), apply.ArgoCD: int64(1), apply.ArgoCDSSA: "!failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema", apply.Kubectl: `! "" is invalid: patch: Invalid value: "map[metadata:map[annotations:map[kubectl.kubernetes.io/last-applied-configuration:{`},
		},
		{
			"an unknown field of a custom resource", widget("size: 1"), widget("size: 1, sise: 2"), []string{"spec", "size"},
			map[apply.Applier]any{"": int64(1), apply.ArgoCD: int64(1), apply.Flux: "!failed to create typed patch object (shop/w; example.com/v1, Kind=Widget): .spec.sise: field not declared in schema"},
		},
		{
			"two entries of one key", deployment("", "image: web"), deployment("", "image: web, env: [{name: A, value: a}, {name: A, value: b}]"), []string{"metadata", "name"},
			map[apply.Applier]any{"": "web", apply.Flux: `!failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.template.spec.containers[name="web"].env: duplicate entries for key [name="A"]`},
		},
		{
			"a port that changes", "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: shop}, spec: {ports: [{port: 80}]}}", "{apiVersion: v1, kind: Service, metadata: {name: s, namespace: shop}, spec: {ports: [{port: 81}]}}", []string{"spec", "ports", "0", "port"},
			map[apply.Applier]any{"": int64(81), apply.Flux: int64(81), apply.ArgoCD: int64(81), apply.KubectlSSA: int64(81)},
		},
	} {
		for by, want := range test.want {
			t.Run(test.name+"/"+string(by), func(t *testing.T) {
				a := ask("UPDATE", object(t, test.sent), object(t, test.before))
				a.Applier = by
				req, _, err := open(t, widgets).Prepare(t.Context(), a)
				var refusal *apierrors.StatusError
				if errors.As(err, &refusal) {
					if text, _ := want.(string); !strings.HasPrefix(text, "!") || !strings.HasPrefix(refusal.ErrStatus.Message, text[1:]) {
						t.Errorf("refused: %s", refusal.ErrStatus.Message)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, at(seen(t, req), test.field)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// at returns the field at a path; numbers in it are indexes of lists.
func at(value any, path []string) any {
	for _, name := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			value = v[0]
		}
	}
	return value
}

// TestAppliedIsCreated: applying a new object has the same result as creating it, with and without
// the shortcut, except for fields that Flux does not send.
func TestAppliedIsCreated(t *testing.T) {
	texts := []string{
		"{apiVersion: v1, kind: Service, metadata: {name: s, namespace: shop}, spec: {ports: [{name: a, port: 80}, {name: b, port: 443}]}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}, data: {a: b}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: c, namespace: shop}, stringData: {a: b}}",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: shop}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: shop}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b, ports: [{containerPort: 1}, {containerPort: 2}]}]}}}}",
		"{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: shop}, spec: {size: 1}}",
	}
	for _, text := range texts {
		o := object(t, text)
		created, _, err := open(t, widgets).Prepare(t.Context(), ask("CREATE", o, nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, isPlain := range []bool{true, false} {
			content := (&unstructured.Unstructured{Object: o.Content()}).DeepCopy()
			if !isPlain { // a null is not plain
				content.Object["metadata"].(map[string]any)["creationTimestamp"] = nil
			}
			for _, by := range []apply.Applier{apply.Flux, apply.ArgoCDSSA, apply.KubectlSSA} {
				a := ask("CREATE", NewObject(content.Object), nil)
				a.Applier = by
				req, _, err := open(t, widgets).Prepare(t.Context(), a)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(seen(t, created), seen(t, req)); diff != "" {
					t.Errorf("%s plain=%t by %s (-created +applied):\n%s", o.GroupVersionKind().Kind, isPlain, by, diff)
				}
			}
		}
	}
}

// TestDropped: fields that Flux does not send are reported, but are no warnings of the server.
func TestDropped(t *testing.T) {
	a := ask("CREATE", object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, dat: {}}"), nil)
	a.Applier = apply.Flux
	req, warned, err := open(t, widgets).Prepare(t.Context(), a)
	if err != nil || len(warned) > 0 || !slices.Equal(req.Dropped(), []string{`unknown field "dat"`}) {
		t.Errorf("warnings %q, dropped %q, %v", warned, req.Dropped(), err)
	}
}

// TestInvalidCertificates: Flux removes certificates of a conversion webhook that a server refuses.
func TestInvalidCertificates(t *testing.T) {
	definition := func(conversion string) *Object {
		return object(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.org}, spec: {group: example.org, scope: Namespaced, "+
			"names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}, "+conversion+"versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}")
	}
	with := func(certificates string) *Object {
		return definition("conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://example.org', caBundle: " + certificates + "}}}, ")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "example.org"}, key)
	if err != nil {
		t.Fatal(err)
	}
	valid, err := cert.EncodeCertificates(authority)
	if err != nil {
		t.Fatal(err)
	}
	for certificates, want := range map[string]map[apply.Applier]bool{
		"Cg==":                                   {apply.Flux: true, apply.ArgoCDSSA: false, apply.KubectlSSA: false, apply.ArgoCD: false},
		"Y2VydGlmaWNhdGU=":                       {apply.Flux: true, apply.ArgoCDSSA: false},
		"'not base64'":                           {apply.Flux: true, apply.ArgoCDSSA: false},
		"''":                                     {apply.Flux: true, apply.ArgoCDSSA: true},
		base64.StdEncoding.EncodeToString(valid): {apply.Flux: true, apply.ArgoCDSSA: true},
	} {
		for by, accepted := range want {
			for operation, old := range map[k8sadmission.Operation]*Object{"CREATE": nil, "UPDATE": definition("")} {
				if operation == "CREATE" && by != apply.Flux {
					continue // a server accepts some invalid certificates in a new one
				}
				a := ask(operation, with(certificates), old)
				a.Applier = by
				if _, _, err := open(t, widgets).Prepare(t.Context(), a); (err == nil) != accepted {
					t.Errorf("%s of %s by %s: %v", operation, certificates, by, err)
				}
			}
		}
	}
}

// TestCreatedByKubectl: objects that kubectl and Argo CD create have no nulls, and objects that kubectl
// cannot decode are not sent.
func TestCreatedByKubectl(t *testing.T) {
	const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {pod-security.kubernetes.io/warn: null}}}"
	const typed = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop, annotations: {retries: %s}}}"
	for _, by := range []apply.Applier{apply.ArgoCD, apply.Kubectl} {
		a := ask("CREATE", object(t, namespace), nil)
		a.Applier = by
		if _, _, err := open(t, widgets).Prepare(t.Context(), a); err != nil {
			t.Errorf("%s: %v", by, err)
		}
		a = ask("UPDATE", object(t, fmt.Sprintf(typed, "3")), object(t, fmt.Sprintf(typed, "'3'")))
		a.Applier = by
		_, _, err := open(t, widgets).Prepare(t.Context(), a)
		if err == nil || !strings.Contains(err.Error(), "cannot unmarshal number into Go struct field") {
			t.Errorf("%s: %v", by, err)
		}
	}
	a := ask("CREATE", object(t, namespace), nil)
	a.Applier = apply.Replace
	if _, _, err := open(t, widgets).Prepare(t.Context(), a); err == nil {
		t.Error("kubectl create leaves out what is null")
	}
}

// TestUnmergedIsInternal: a patch with two items of one key is an internal error of the server.
func TestUnmergedIsInternal(t *testing.T) {
	pod := func(more string) string {
		return "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 50m}}}, " +
			"{name: b, image: b, resources: {subjects: [{kind: User}]}}" + more + "]}}"
	}
	a := ask("UPDATE", object(t, pod(", {name: a, image: a, resource: {kind: Bucket}, resources: {requests: {cpu: 50m}}}")), object(t, pod("")))
	a.Applier = apply.ArgoCD
	_, _, err := open(t).Prepare(t.Context(), a)
	var refusal *apierrors.StatusError
	if !errors.As(err, &refusal) || refusal.ErrStatus.Code != 500 {
		t.Errorf("got %v", err)
	}
}
