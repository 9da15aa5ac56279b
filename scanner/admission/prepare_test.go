package admission

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission/builtin"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/kinds"
)

// object parses YAML into an object of the state.
func object(t *testing.T, text string) *Object {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return ParseObject(data)
}

func ask(op k8sadmission.Operation, obj, old *Object) ClientRequest {
	return ClientRequest{Operation: op, User: &user.DefaultInfo{Name: "flux"}, Object: obj, OldObject: old}
}

// seen returns the object as a policy that matches the request's own version sees it.
func seen(t *testing.T, r *Request) map[string]any {
	t.Helper()
	v, err := r.Version(r.GetKind())
	if err != nil {
		t.Fatal(err)
	}
	return v.Object
}

const webDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx}]}
`

const migration = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx}]}}}
`

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 3}}}}}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, color: {type: string, default: red}}}}}}
  - name: v0
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

// open returns a cluster that has these objects and may have others.
func open(t *testing.T, texts ...string) *Cluster {
	objects := make([]*Object, len(texts))
	for i, text := range texts {
		objects[i] = object(t, text)
	}
	return NewCluster(ClusterOptions{}, NewIndex(objects))
}

func TestPrepareAsAServer(t *testing.T) {
	tests := []struct {
		name    string
		client  func(t *testing.T) ClientRequest
		field   []string
		want    any
		warning string
	}{
		{
			name:   "an omitted replicas is 1",
			client: func(t *testing.T) ClientRequest { return ask("CREATE", object(t, webDeployment), nil) },
			field:  []string{"spec", "replicas"}, want: int64(1),
		},
		{
			name:   "a namespaced object without a namespace lives in default",
			client: func(t *testing.T) ClientRequest { return ask("CREATE", object(t, webDeployment), nil) },
			field:  []string{"metadata", "namespace"}, want: "default",
		},
		{
			name:   "the generation of a new object is 1",
			client: func(t *testing.T) ClientRequest { return ask("CREATE", object(t, webDeployment), nil) },
			field:  []string{"metadata", "generation"}, want: int64(1),
		},
		{
			name: "a changed spec raises the generation",
			client: func(t *testing.T) ClientRequest {
				changed := strings.Replace(webDeployment, "spec:\n", "spec:\n  replicas: 3\n", 1)
				return ask("UPDATE", object(t, changed), object(t, webDeployment))
			},
			field: []string{"metadata", "generation"}, want: int64(2),
		},
		{
			name: "an unknown field is dropped with a warning",
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, strings.Replace(webDeployment, "spec:\n", "spec:\n  replica: 3\n", 1)), nil)
			},
			field: []string{"spec", "replica"}, want: nil, warning: `unknown field "spec.replica"`,
		},
		{
			name: "a Namespace gets its name as a label",
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"), nil)
			},
			field: []string{"metadata", "labels", "kubernetes.io/metadata.name"}, want: "shop",
		},
		{
			name: "a custom resource gets its definition's defaults",
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {}}"), nil)
			},
			field: []string{"spec", "size"}, want: int64(3),
		},
		{
			name: "a custom resource loses what its definition does not know",
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {colour: red}}"), nil)
			},
			field: []string{"spec", "colour"}, want: nil, warning: `unknown field "spec.colour"`,
		},
		{
			name: "a quantity is canonical",
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: nginx, resources: {limits: {cpu: 1000m}}}], nodeSelector: {a: b}}}`), nil)
			},
			field: []string{"spec", "priority"}, want: int64(0),
		},
		{
			name: "a Service is given an address",
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}"), nil)
			},
			field: []string{"spec", "clusterIP"}, want: "10.0.0.1",
		},
		{
			name: "applying a Job again keeps the selector the server made",
			client: func(t *testing.T) ClientRequest {
				a := ask("UPDATE", object(t, strings.Replace(migration, "spec: {", "spec: {suspend: true, ", 1)), object(t, migration))
				a.Applier = apply.Flux
				return a
			},
			field: []string{"spec", "suspend"}, want: true,
		},
		{
			name: "a deprecated version is warned of",
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, "{apiVersion: v1, kind: Endpoints, metadata: {name: e}}"), nil)
			},
			field: []string{"metadata", "name"}, want: "e", warning: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req, warnings, err := open(t, widgets).Prepare(context.Background(), test.client(t))
			if err != nil {
				t.Fatal(err)
			}
			got, _, _ := unstructured.NestedFieldNoCopy(seen(t, req), test.field...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", strings.Join(test.field, "."), diff)
			}
			if test.warning == "" && len(warnings) > 0 || test.warning != "" && !slices.Contains(warnings, test.warning) {
				t.Errorf("warnings %q, want %q", warnings, test.warning)
			}
		})
	}
}

func TestPrepareRefusesAsAServer(t *testing.T) {
	tests := []struct {
		name, message, field string
		known                kinds.Complete
		client               func(t *testing.T) ClientRequest
	}{
		{
			name: "invalid object", field: "spec.containers",
			message: `Pod "p" is invalid: spec.containers: Required value`,
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}"), nil)
			},
		},
		{
			name: "immutable field", field: "spec.selector",
			message: `Deployment.apps "web" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"api"}}: field is immutable`,
			client: func(t *testing.T) ClientRequest {
				return ask("UPDATE", object(t, strings.ReplaceAll(webDeployment, "app: web", "app: api")), object(t, webDeployment))
			},
		},
		{
			name:    "wrong type",
			message: "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: 1}}"), nil)
			},
		},
		{
			name: "missing namespace where all are known", known: kinds.CompleteOf(kinds.Namespace),
			message: `namespaces "nowhere" not found`,
			client: func(t *testing.T) ClientRequest {
				return ask("CREATE", object(t, strings.Replace(webDeployment, "name: web", "name: web, namespace: nowhere", 1)), nil)
			},
		},
		{
			name:    "protected namespace",
			message: `namespaces "default" is forbidden: this namespace may not be deleted`,
			client: func(t *testing.T) ClientRequest {
				return ask("DELETE", nil, object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: default}}"))
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cluster := NewCluster(ClusterOptions{Known: test.known}, NewIndex(nil))
			_, _, err := cluster.Prepare(context.Background(), test.client(t))
			var status *apierrors.StatusError
			if !errors.As(err, &status) {
				t.Fatalf("error %v, want a refusal of the server", err)
			}
			if status.ErrStatus.Message != test.message {
				t.Errorf("message\n%s\nwant\n%s", status.ErrStatus.Message, test.message)
			}
			if test.field != "" && status.ErrStatus.Details.Causes[0].Field != test.field {
				t.Errorf("field %s, want %s", status.ErrStatus.Details.Causes[0].Field, test.field)
			}
		})
	}
}

func TestPrepareDoesNotKnow(t *testing.T) {
	for text, want := range map[string]string{
		"{apiVersion: example.org/v1, kind: Gizmo, metadata: {name: g}}":             "no CustomResourceDefinition defines example.org/v1 Gizmo; add it to the repository or give it with --context",
		"{apiVersion: example.com/v0, kind: Widget, metadata: {name: w}}":            "example.com/v0 Widget is not served: CustomResourceDefinition widgets.example.com serves v1, v2",
		"{apiVersion: policy/v1beta1, kind: PodSecurityPolicy, metadata: {name: p}}": "Kubernetes v1.36.3 does not serve policy/v1beta1 PodSecurityPolicy; removed in v1.25",
	} {
		_, _, err := open(t, widgets).Prepare(context.Background(), ask("CREATE", object(t, text), nil))
		var unknown *UnknownKindError
		if !errors.As(err, &unknown) || err.Error() != want {
			t.Errorf("%s:\n%v, want\n%s", text, err, want)
		}
	}
}

// TestUnserved: errors about kinds and versions that are not served name replacements.
func TestUnserved(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]string{
		{Group: "apps", Version: "v1beta1", Kind: "Deployment"}:                                        `no matches for kind "Deployment" in version "apps/v1beta1": removed in v1.16, use apps/v1 Deployment`,
		{Group: "autoscaling", Version: "v2beta2", Kind: "HorizontalPodAutoscaler"}:                    `no matches for kind "HorizontalPodAutoscaler" in version "autoscaling/v2beta2": removed in v1.26, use autoscaling/v2 HorizontalPodAutoscaler`,
		{Group: "policy", Version: "v1beta1", Kind: "PodSecurityPolicy"}:                               `no matches for kind "PodSecurityPolicy" in version "policy/v1beta1": removed in v1.25`,
		{Group: "apiextensions.k8s.io", Version: "v1beta1", Kind: "CustomResourceDefinition"}:          `no matches for kind "CustomResourceDefinition" in version "apiextensions.k8s.io/v1beta1": removed in v1.22, use apiextensions.k8s.io/v1 CustomResourceDefinition`,
		{Group: "extensions", Version: "v1beta1", Kind: "Ingress"}:                                     `no matches for kind "Ingress" in version "extensions/v1beta1": removed in v1.22, use networking.k8s.io/v1 Ingress`,
		{Group: "apps", Version: "v1", Kind: "Widget"}:                                                 `no matches for kind "Widget" in version "apps/v1"`,
		{Group: "admissionregistration.k8s.io", Version: "v1beta1", Kind: "ValidatingAdmissionPolicy"}: `no matches for kind "ValidatingAdmissionPolicy" in version "admissionregistration.k8s.io/v1beta1": removed in v1.34, use admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy`,
	} {
		e := &UnknownKindError{Kind: kind, Builtin: true}
		if got := e.Refusal().ErrStatus.Message; got != want {
			t.Errorf("%s\n%s, want\n%s", kind, got, want)
		}
	}
	if (&UnknownKindError{}).Refusal() != nil {
		t.Error("a kind that nothing defines is refused")
	}
}

func TestPutOfAJobLosesItsSelector(t *testing.T) {
	changed := strings.Replace(migration, "spec: {", "spec: {suspend: true, ", 1)
	_, _, err := open(t).Prepare(context.Background(), ask("UPDATE", object(t, changed), object(t, migration)))
	if err == nil || !strings.Contains(err.Error(), "spec.selector") {
		t.Errorf("error %v, want spec.selector to be immutable", err)
	}
}

func TestGeneratedNamesFollowFromTheObject(t *testing.T) {
	text := "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: run-}}"
	name := func() string {
		req, _, err := open(t).Prepare(context.Background(), ask("CREATE", object(t, text), nil))
		if err != nil {
			t.Fatal(err)
		}
		return req.GetName()
	}
	first := name()
	if !strings.HasPrefix(first, "run-") || len(first) != len("run-")+len("abcde") {
		t.Errorf("generated name %q", first)
	}
	if second := name(); second != first {
		t.Errorf("generated %q, then %q", first, second)
	}
}

func TestConversionBetweenVersions(t *testing.T) {
	hpa := "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]}}"
	req, _, err := open(t).Prepare(context.Background(), ask("CREATE", object(t, hpa), nil))
	if err != nil {
		t.Fatal(err)
	}
	kind := req.GetKind()
	kind.Version = "v1"
	v1, err := req.Version(kind)
	if err != nil {
		t.Fatal(err)
	}
	got, _, _ := unstructured.NestedInt64(v1.Object, "spec", "targetCPUUtilizationPercentage")
	if got != 70 || v1.Object["apiVersion"] != "autoscaling/v1" {
		t.Errorf("converted to %v", v1.Object)
	}
}

func TestStoredIsReadInAnotherVersion(t *testing.T) {
	c := open(t, widgets)
	o := object(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {}}")
	kind := o.GroupVersionKind()
	kind.Version = "v2"
	obj, err := c.Stored(o, kind)
	if err != nil {
		t.Fatal(err)
	}
	content, err := Content(obj)
	if err != nil {
		t.Fatal(err)
	}
	// Defaults are those of the version in which it was written, not read.
	if diff := cmp.Diff(map[string]any{"size": int64(3)}, content["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestNamespaces(t *testing.T) {
	defined := "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {env: prod}}}"
	ns, assumed, err := open(t, defined).Namespace("shop")
	if err != nil || assumed || ns.Labels["env"] != "prod" || ns.Labels["kubernetes.io/metadata.name"] != "shop" {
		t.Errorf("shop: %v, assumed %v, %v", ns, assumed, err)
	}
	ns, assumed, err = open(t).Namespace("elsewhere")
	if err != nil || !assumed || ns.Name != "elsewhere" {
		t.Errorf("elsewhere: %v, assumed %v, %v", ns, assumed, err)
	}
	complete := NewCluster(ClusterOptions{Known: kinds.CompleteAll()}, NewIndex(nil))
	if _, _, err := complete.Namespace("elsewhere"); !apierrors.IsNotFound(err) {
		t.Errorf("complete cluster: %v", err)
	}
	if _, assumed, err := complete.Namespace("kube-system"); err != nil || assumed {
		t.Errorf("kube-system: assumed %v, %v", assumed, err)
	}
}

func TestFirstLayerWins(t *testing.T) {
	own := NewIndex([]*Object{object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {env: dev}}}")})
	shared := NewIndex([]*Object{object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {env: prod}}}")})
	ns, _, err := NewCluster(ClusterOptions{}, own, shared).Namespace("shop")
	if err != nil || ns.Labels["env"] != "dev" {
		t.Errorf("labels %v, %v", ns.Labels, err)
	}
}

// TestEveryStoredResourceHasAStrategy compares discovery.json with the table of strategies: without a
// strategy, the server's validation would be skipped.
func TestEveryStoredResourceHasAStrategy(t *testing.T) {
	virtual := []string{"bindings", "componentstatuses", "selfsubjectreviews", "tokenreviews", "localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"}
	c := open(t)
	for _, r := range builtin.Resources() {
		kind := r.Kind
		s := c.builtinStrategy(r.GroupResource())
		if has := s.Create != nil && s.Update != nil; has == slices.Contains(virtual, r.Resource) {
			t.Errorf("%s: has a strategy: %v", kind, has)
		}
	}
}
