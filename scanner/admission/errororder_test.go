package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestErrorsOfMapsAreOrdered: validation iterates over maps in random order, but its errors are
// sorted.
func TestErrorsOfMapsAreOrdered(t *testing.T) {
	tests := map[string]string{
		"labels":                     "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {'a b': x, 'c d': 'y z', 'e f': z, ok: 'g h'}}}",
		"keys":                       "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {'a b': x, 'c d': x, 'e f': x, 'g h': x}}",
		"limits":                     "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, resources: {limits: {cpu: -1, memory: -1, ephemeral-storage: -1, a: 1}}}]}}",
		"limit ranges":               "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, resources: {limits: {cpu: 2, memory: 2, ephemeral-storage: 2}}}]}}",
		"claim templates":            "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}], volumes: [{name: v, hostPath: {path: ../x}}]}}, volumeClaimTemplates: [{metadata: {name: ok}}, {metadata: {name: Not}}, {metadata: {name: fine}}, {metadata: {name: Bad}}]}}",
		"rules of a custom resource": "{apiVersion: example.com/v1, kind: Gear, metadata: {name: g}, spec: {a: x, m: {k: x, l: x}, p: x, z: x}}",
		"custom resource":            "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: x, colour: 3, shape: true}}",
	}
	strict := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, colour: {type: string}, shape: {type: string}, x: {type: string}}}}}}}]}}`
	rule := "{type: string, x-kubernetes-validations: [{rule: self == 'y'}]}"
	rules := fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gears.example.com}, spec: {group: example.com, scope: Namespaced,
  names: {kind: Gear, plural: gears}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
  properties: {a: %[1]s, m: {type: object, additionalProperties: %[1]s}, p: %[1]s, z: %[1]s}}}}}}]}}`, rule)
	limits := "{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Pod, max: {cpu: 1, memory: 1, ephemeral-storage: 1}}]}}"
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			first := ""
			for range 20 {
				_, _, err := open(t, strict, rules, limits).Prepare(context.Background(), ask("CREATE", object(t, text), nil))
				if err == nil {
					t.Fatal("not refused")
				}
				if first == "" {
					first = err.Error()
				}
				if err.Error() != first {
					t.Fatalf("refused once with\n%s\nand once with\n%s", first, err)
				}
			}
		})
	}
}

// TestErrorsOfLabelsInOrder: the PodSecurity plugin looks up labels in a fixed order.
func TestErrorsOfLabelsInOrder(t *testing.T) {
	namespace := "{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {pod-security.kubernetes.io/enforce: none, pod-security.kubernetes.io/enforce-version: none, pod-security.kubernetes.io/audit: none}}}"
	_, _, err := open(t).Prepare(t.Context(), ask("CREATE", object(t, namespace), nil))
	if err == nil {
		t.Fatal("not refused")
	}
	at := -1
	for _, label := range []string{"/enforce]", "/enforce-version]", "/audit]"} {
		if i := strings.Index(err.Error(), label); i <= at {
			t.Errorf("%s is not next in %s", label, err)
		} else {
			at = i
		}
	}
}

// TestErrorsOfAValueInOrder: the errors of several schemas about one value are in the server's order, after
// that about its type.
func TestErrorsOfAValueInOrder(t *testing.T) {
	crd := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}, colour: {type: string}}}}}}}]}}`
	widget := "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: {a: b}, colour: 3}}"
	_, _, err := open(t, crd).Prepare(t.Context(), ask("CREATE", object(t, widget), nil))
	if err == nil {
		t.Fatal("not refused")
	}
	at := -1
	for _, said := range []string{"spec.colour in body must be of type string", "must be of type integer,string", `"spec.size" must validate at least one schema`, "must be of type integer: "} {
		if i := strings.Index(err.Error(), said); i <= at {
			t.Errorf("%q is not next in %s", said, err)
		} else {
			at = i
		}
	}
}

// TestWarningsOfFormatsAreOrdered: the server warns of the unknown formats of a definition in random order;
// here the warnings are sorted.
func TestWarningsOfFormatsAreOrdered(t *testing.T) {
	crd := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, format: d}, b: {type: string, format: c}, c: {type: string, format: b}, d: {type: string, format: a}}}}}]}}`
	_, warned, err := open(t).Prepare(t.Context(), ask("CREATE", object(t, crd), nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`unrecognized format "a"`, `unrecognized format "b"`, `unrecognized format "c"`, `unrecognized format "d"`}
	if !slices.Equal(warned, want) {
		t.Errorf("warned %q, want %q", warned, want)
	}
}
