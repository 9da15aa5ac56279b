package admission_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"
	generated "k8s.io/kubernetes/pkg/generated/openapi"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

func manifest(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNormalized(t *testing.T) {
	for name, test := range map[string]struct{ sent, want string }{
		"a port has a protocol, an unknown field is dropped": {
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}], prots: []}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a, creationTimestamp: null}, spec: {ports: [{port: 80, protocol: TCP, targetPort: 0}]}}",
		},
		"a Secret has no stringData": {
			"{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: eQ==}, stringData: {y: z}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: a, creationTimestamp: null}, data: {x: eQ==, y: eg==}}",
		},
		"a Role is left alone": {
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rule: []}",
			"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rule: []}",
		},
		"a kind that no client knows loses its status only": {
			"{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: a}, sise: 1, status: {}}",
			"{apiVersion: shop.example.com/v1, kind: Widget, metadata: {name: a, creationTimestamp: null}, sise: 1}",
		},
		"what does not fit the kind is sent as it is": {
			"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: x}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: a, creationTimestamp: null}, spec: {ports: [{port: x}]}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := yaml.Marshal(apply.Normalized(manifest(t, test.sent)))
			if err != nil {
				t.Fatal(err)
			}
			got = []byte(text(manifest(t, string(got))))
			if diff := cmp.Diff(text(manifest(t, test.want)), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func text(content map[string]any) string {
	out, _ := yaml.Marshal(content)
	return string(out)
}

// read parses a manifest.
func read(t *testing.T, text string) *apply.Manifest {
	t.Helper()
	encoded, err := json.Marshal(manifest(t, text))
	if err != nil {
		t.Fatal(err)
	}
	m, ok := apply.ReadManifest(encoded)
	if !ok {
		t.Fatalf("%s is no object", encoded)
	}
	return &m
}

// TestReadManifest: only complete JSON of objects is accepted.
func TestReadManifest(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, ` { "a" : [ 1 , { "b" : null } ] , "c\"d" : "}" } `: true, `{"a":-1.5e3,"b":[[],{}],"c":true}`: true,
		``: false, `[]`: false, `"a"`: false, `null`: false, `{`: false, `{}}`: false, `{"a"}`: false, `{"a":`: false, `{"a":[1`: false, `{"a":"b`: false, `{1:2}`: false, `{"a":,}`: false,
	} {
		m, ok := apply.ReadManifest([]byte(text))
		if ok != want || ok && m.Has("b") != strings.Contains(text, `,"b"`) {
			t.Errorf("%s: %t, want %t", text, ok, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"{spec: {containers: [{name: a, env: [{name: X, value: '1'}, {name: Y, value: '1'}]}]}}": true,
		"{spec: {containers: [{name: a, env: [{name: X}, {name: X}]}]}}":                         false,
		"{spec: {containers: [{name: a}, {name: a}]}}":                                           false,
		"{spec: {ports: [{containerPort: 53}, {containerPort: 53}]}}":                            false,
		"{spec: {replicas: null}}":                                                               false,
		"{metadata: {uid: a}}":                                                                   false,
		"{metadata: {creationTimestamp: null}}":                                                  true,
		"{metadata: {labels: null}}":                                                             false,
		"{metadata: null}":                                                                       false,
		"{metadata: [{a: null}]}":                                                                false,
		"{spec: {template: {metadata: {creationTimestamp: null}}}}":                              false,
		"{metadata: {managedFields: []}}":                                                        false,
		"{metadata: {finalizers: [a, b]}}":                                                       true,
		"{metadata: {finalizers: [a, a]}}":                                                       false,
		"{spec: {args: [[a], [a]]}}":                                                             true,
		"{spec: {rules: [{path: {name: [1]}}]}}":                                                 true,
		"{secrets: [{}]}":                                                                        false,
		"{spec: {containers: [{image: a}]}}":                                                     false,
		"{spec: {containers: [{name: a, envFrom: [{prefix: b}, {prefix: b}]}]}}":                 true,
		"{spec: {egress: [{}]}}":                                                                 true,
		"{spec: {rules: [{path: [{a: null}]}]}}":                                                 false,
		"{data: {a: [1]}}":                                                                       false,
		"{spec: {containers: [{name: ''}]}}":                                                     false,
		"{spec: {ports: [{port: 1, name: a}, {port: 2, name: a}]}}":                              false,
	} {
		if got := read(t, text).IsPlain(); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

func TestNormal(t *testing.T) {
	for text, want := range map[string]bool{
		"{spec: {volumes: [{name: a, emptyDir: {}}], egress: [{}]}}":     true,
		"{spec: {containers: [{name: a, env: []}]}}":                     false,
		"{spec: {behavior: {scaleDown: {policies: []}}}}":                false,
		"{spec: {capacity: {}}}":                                         false,
		"{spec: {template: {metadata: {labels: {}}}}}":                   false,
		"{spec: {containers: [{name: a, env: [{name: A, value: ''}]}]}}": true,
	} {
		if got := read(t, text).IsNormal(); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

// TestPlainKnowsTypes: no list with keys of Kubernetes counts as one without keys, and no map as a struct.
func TestPlainKnowsTypes(t *testing.T) {
	lists := 0
	for name, definition := range generated.GetOpenAPIDefinitions(func(string) spec.Ref { return spec.Ref{} }) {
		for field, property := range definition.Schema.Properties {
			if property.AdditionalProperties != nil && !strings.Contains(name, "Status") && read(t, fmt.Sprintf("{spec: {%s: {}}}", field)).IsNormal() {
				t.Errorf("an empty %s of %s is sent by Flux", field, name)
			}
			keys, isMap := property.Extensions["x-kubernetes-list-map-keys"].([]any)
			if !isMap {
				continue
			}
			lists++
			item := func(value string) string {
				var all []string
				for _, key := range keys {
					all = append(all, fmt.Sprintf("%s: %s", key, value))
				}
				return "{" + strings.Join(all, ", ") + "}"
			}
			for _, items := range []string{item("a") + ", " + item("a"), "{}", "{other: a}"} {
				if read(t, fmt.Sprintf("{spec: {%s: [%s]}}", field, items)).IsPlain() {
					t.Errorf("%s of %s: [%s] is plain", field, name, items)
				}
			}
		}
	}
	if lists < 50 {
		t.Errorf("%d lists by key", lists)
	}
}

// TestPlainDefinition: the text of a definition is plain if its content is, except for lists of its spec
// without keys.
func TestPlainDefinition(t *testing.T) {
	const schema = "{spec: {versions: [{schema: {openAPIV3Schema: "
	for text, want := range map[string]bool{
		"{metadata: {name: a, creationTimestamp: null}, spec: {group: a}}":                                                true,
		"{metadata: {name: a, labels: null}, spec: {group: a}}":                                                           false,
		"{metadata: {uid: a}, spec: {}}":                                                                                  false,
		"{metadata: {finalizers: [a, a]}, spec: {}}":                                                                      false,
		"{spec: {conversion: null}}":                                                                                      false,
		"{spec: {versions: [{additionalPrinterColumns: [{name: a, type: string}, {name: b, type: string}]}]}}":            true,
		schema + "{type: object, default: {a: null}}}}]}}":                                                                false,
		schema + "{enum: [a, null]}}}]}}":                                                                                 false,
		schema + "{description: 'say \"x\": null, or [null]', nullable: true, properties: {'null': {type: string}}}}}]}}": true,
		schema + "{description: 'ends in \\'}}}], names: null}}":                                                          false,
		schema + "{properties: {metadata: {uid: a}, status: {conditions: [{type: a}, {type: a}]}}}}}]}}":                  true,
		schema + "{x-kubernetes-validations: [{rule: a, message: x}, {rule: b, message: x}]}}}]}}":                        true,
		schema + "{x-kubernetes-validations: [{rule: a, message: x}, {rule: a, message: y}]}}}]}}":                        false,
		schema + "{properties: {a: {x-kubernetes-validations: [{rule: a, message: null}]}}}}}]}}":                         false,
		schema + "{properties: {a: {x-kubernetes-validations: [{rule: a}]}, b: {default: null}}}}}]}}":                    false,
		"{spec: {}, status: {conditions: [{type: a}, {type: b}], storedVersions: []}}":                                    true,
		"{spec: {}, status: {conditions: [{type: a}, {type: a}]}}":                                                        false,
		"{spec: {}, status: {conditions: null}}":                                                                          false,
	} {
		compact, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, compact, "", "\t"); err != nil {
			t.Fatal(err)
		}
		for _, given := range [][]byte{compact, spaced.Bytes()} {
			if got := apply.PlainDefinition(given); got != want {
				t.Errorf("%s: %t, want %t", given, got, want)
			}
		}
	}
	for _, text := range []string{"", "{", `{"metadata": {`, `{"a`, `{"a\`, `{"metadata"`} {
		if apply.PlainDefinition([]byte(text)) {
			t.Errorf("%q is plain", text)
		}
	}
}

func TestAnnotated(t *testing.T) {
	got, err := apply.Annotated(manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {kubectl.kubernetes.io/last-applied-configuration: old}}}"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{},"name":"a"}}` + "\n",
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAppliers(t *testing.T) {
	for _, name := range apply.Appliers() {
		a, err := apply.Parse(name)
		if err != nil || a.Manager() == "" || a.User() == "" || a.ServerSide() && a.Merges() {
			t.Errorf("%s: %v, manager %q, user %q", name, err, a.Manager(), a.User())
		}
	}
	for _, by := range []apply.Applier{apply.Kubectl, apply.KubectlSSA, apply.Replace} {
		if strings.HasPrefix(by.User(), "system:serviceaccount:") {
			t.Errorf("%s: user %q, want a person", by, by.User())
		}
	}
	if _, err := apply.Parse("helm"); err == nil {
		t.Error("helm is an applier")
	}
}
