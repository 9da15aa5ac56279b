package resourceset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

func renderSet(t *testing.T, spec string, inputs ...render.Input) *render.Result {
	t.Helper()
	object, err := yaml.YAMLToJSON([]byte("apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: apps, namespace: flux-system}\nspec:\n" + spec))
	if err != nil {
		t.Fatal(err)
	}
	s := New(tree.New(fstest.MapFS{}, tree.Limits{}), render.Options{})
	return s.Render(context.Background(), render.Root{RootID: render.RootID{Kind: render.KindResourceSet, Dir: "clusters/prod"}, Unit: &render.Unit{Object: object, Inputs: inputs}})
}

const configMap = "  resources:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: a}, data: {v: %s}}\n"

func TestRender(t *testing.T) {
	tests := []struct {
		name, spec string
		inputs     []render.Input
		// want are the expected objects as KIND/NAME and their data.v.
		want string
	}{
		{name: "without inputs once", spec: fmt.Sprintf(configMap, "a", "x"), want: "ConfigMap/a x"},
		{name: "for each input", spec: "  inputs: [{t: a, count: 2}, {t: b, count: 3}]\n" + fmt.Sprintf(configMap, "<< inputs.t >>", `<< inputs.count | int | quote >>`), want: "ConfigMap/a 2, ConfigMap/b 3"},
		{name: "once for objects of the same name", spec: "  inputs: [{t: a}, {t: b}]\n" + fmt.Sprintf(configMap, "shared", "<< inputs.t >>"), want: "ConfigMap/shared a"},
		{name: "defaults and nesting", spec: "  inputs: [{ns: a, app: {v: \"1.0\"}}]\n" + fmt.Sprintf(configMap, `'<< get inputs "name" | default inputs.ns >>'`, "<< inputs.app.v | quote >>"), want: "ConfigMap/a 1.0"},
		{name: "who provides", spec: "  inputs: [{t: a}]\n" + fmt.Sprintf(configMap, "<< inputs.provider.name >>", "<< inputs.provider.kind >>"), want: "ConfigMap/apps ResourceSet"},
		{name: "an id", spec: "  inputs: [{id: red}]\n" + fmt.Sprintf(configMap, "<< inputs.id >>", "x"), want: "ConfigMap/red x"},
		{name: "from a provider", spec: "  inputsFrom: [{name: in}]\n" + fmt.Sprintf(configMap, "<< inputs.t >>", "<< inputs.provider.name >>"),
			inputs: []render.Input{{Provider: render.ObjectRef{Kind: "ResourceSetInputProvider", Name: "in"}, Values: json.RawMessage(`{"t":"a"}`)}}, want: "ConfigMap/a in"},
		{name: "no inputs of providers", spec: "  inputsFrom: [{name: in}]\n" + fmt.Sprintf(configMap, "a", "x"), want: ""},
		{name: "turned off for an input", spec: "  inputs: [{t: a}, {t: b}]\n  resources:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: << inputs.t >>, annotations: {fluxcd.controlplane.io/reconcile: '<< if eq inputs.t \"a\" >>enabled<< else >>disabled<< end >>'}}}\n", want: "ConfigMap/a <nil>"},
		{name: "turned off in a template without inputs", spec: "  resourcesTemplate: |\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {fluxcd.controlplane.io/reconcile: disabled}}}\n    ---\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n", want: "ConfigMap/b <nil>"},
		{name: "not turned off in resources without inputs", spec: "  resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {fluxcd.controlplane.io/reconcile: disabled}}}]\n", want: "ConfigMap/a <nil>"},
		{name: "twice in resources without inputs", spec: fmt.Sprintf(configMap, "a", "x") + "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: a}, data: {v: z}}\n", want: "ConfigMap/a x, ConfigMap/a z"},
		{name: "template of documents", spec: "  inputs: [{parts: [a, b]}]\n  resourcesTemplate: |\n    <<- range $p := inputs.parts >>\n    ---\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: << $p >>}\n    data: {v: << slugify \"A & b\" >>}\n    <<- end >>\n", want: "ConfigMap/a a-and-b, ConfigMap/b a-and-b"},
		{name: "resources go before the template", spec: fmt.Sprintf(configMap, "a", "x") + "  resourcesTemplate: |\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: a}, data: {v: z}}\n", want: "ConfigMap/a x"},
		{name: "steps", spec: "  steps:\n  - name: one\n    resourcesTemplate: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'\n  - name: two\n    resources: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]\n", want: "ConfigMap/a <nil>, Secret/a <nil>"},
		{name: "the greatest and the least of fractions", spec: "  inputs: [{a: 1.5, b: 2}]\n" + fmt.Sprintf(configMap, "a", `"v<< maxf inputs.a inputs.b >>,<< minf inputs.a inputs.b >>"`), want: "ConfigMap/a v2,1.5"},
		{name: "toYaml", spec: "  inputs: [{d: {v: q}}]\n  resources:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: << inputs.d | toYaml | nindent 2 >>}\n", want: "ConfigMap/a q"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := renderSet(t, tt.spec, tt.inputs...)
			if result.Problem != nil {
				t.Fatal(result.Problem)
			}
			var got []string
			for _, o := range result.Objects {
				content := o.Content()
				metadata := content["metadata"].(map[string]any)
				data, _ := content["data"].(map[string]any)
				got = append(got, fmt.Sprintf("%s/%s %v", content["kind"], metadata["name"], data["v"]))
				if labels, _ := metadata["labels"].(map[string]any); labels["resourceset.fluxcd.controlplane.io/name"] != "apps" || labels["resourceset.fluxcd.controlplane.io/namespace"] != "flux-system" {
					t.Errorf("labels of the owner: %v", metadata["labels"])
				}
			}
			if text := strings.Join(got, ", "); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	const inputs = `{"count": 34078815, "large": 12345678901234567, "part": 1.5, "list": [10000000, 2]}`
	const resource = `
  resources:
  - apiVersion: example.com/v1
    kind: Thing
    metadata: {name: a}
    spec: {large: << inputs.large >>, written: 12345678901234567, part: << inputs.part >>, list: v<< inputs.list >>, json: << inputs.list | toJson >>, more: << gt inputs.count 5 >>}
`
	const want = `"spec":{"json":[10000000,2],"large":12345678901234567,"list":"v[10000000 2]","more":true,"part":1.5,"written":12345678901234567}`
	given := render.Input{Provider: render.ObjectRef{Kind: "ResourceSetInputProvider", Name: "in"}, Values: json.RawMessage(inputs)}
	for _, result := range []*render.Result{renderSet(t, "  inputs: ["+inputs+"]"+resource), renderSet(t, "  inputsFrom: [{name: in}]"+resource, given)} {
		if result.Problem != nil || len(result.Objects) != 1 {
			t.Fatal(result.Problem, len(result.Objects))
		}
		if got := string(result.Objects[0].JSON); !strings.Contains(got, want) {
			t.Errorf("got %s, want it to contain %s", got, want)
		}
	}
}

func TestMetadata(t *testing.T) {
	const owner = ` "resourceset.fluxcd.controlplane.io/name":"apps","resourceset.fluxcd.controlplane.io/namespace":"flux-system"`
	tests := []struct{ name, spec, metadata, want string }{
		{"a label that is no string", "  inputs: [{number: 42}]\n", `labels: {app: a, pr: "<< inputs.number >>"}, annotations: {a: b}`, `{"annotations":{"a":"b"},"labels":{` + owner + `},"name":"a"}`},
		{"null", "", `labels: {app: a, none: null}`, `{"labels":{"app":"a","none":"",` + owner + `},"name":"a"}`},
		{"common annotations beside one that is no string", "  commonMetadata: {annotations: {team: x}}\n", `annotations: {a: b, count: 1}`, `{"annotations":{"team":"x"},"labels":{` + owner + `},"name":"a"}`},
		{"common labels beside an annotation that is no string", "  commonMetadata: {labels: {a: x}}\n", `annotations: {a: b, count: 1}`, `{"annotations":{"a":"b","count":1},"labels":{"a":"x",` + owner + `},"name":"a"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := renderSet(t, tt.spec+"  resources:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a, "+tt.metadata+"}}\n")
			if result.Problem != nil || len(result.Objects) != 1 {
				t.Fatal(result.Problem, len(result.Objects))
			}
			if got := string(tree.Encode(result.Objects[0].Content()["metadata"].(map[string]any))); got != strings.ReplaceAll(tt.want, " ", "") {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestApply(t *testing.T) {
	for annotations, want := range map[string]string{
		`{}`: "false false", `{"fluxcd.controlplane.io/force": "Enabled"}`: "false true", `{"fluxcd.controlplane.io/reconcile": "Disabled"}`: "true false",
		`{"fluxcd.controlplane.io/force": "true", "fluxcd.controlplane.io/reconcile": "enabled"}`: "false false",
	} {
		set, err := Parse(json.RawMessage(`{"metadata": {"name": "a", "annotations": ` + annotations + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(set.Apply().Suspended, " ", set.Apply().Force); got != want {
			t.Errorf("%s: suspended and forced is %s, want %s", annotations, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	const from = "annotations: {fluxcd.controlplane.io/copyFrom: flux-system/a}"
	for _, tt := range []struct{ name, object, unknown, content string }{
		{"a Secret", "kind: Secret, metadata: {name: a, " + from + "}, stringData: {a: b}", "data type", `"data":{}`},
		{"a Secret with a type", "kind: Secret, type: x/y, metadata: {name: a, " + from + "}", "data", `"type":"x/y"`},
		{"a ConfigMap", "kind: ConfigMap, metadata: {name: a, " + from + "}", "data binaryData", `"binaryData":{}`},
		{"another kind", "kind: Service, metadata: {name: a, " + from + "}", "", ""},
		{"a kubeconfig", "kind: ConfigMap, data: {address: x, b: z}, metadata: {name: a, annotations: {fluxcd.controlplane.io/convertKubeConfigFrom: 'flux-system/a:b'}}", "data/ca.crt", `"data":{"address":"x","b":"z","ca.crt":""}`},
		{"a checksum", "kind: Pod, metadata: {name: a, annotations: {fluxcd.controlplane.io/checksumFrom: ConfigMap/a/b}}", "metadata/annotations/fluxcd.controlplane.io/checksum", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result := renderSet(t, "  resources:\n  - {apiVersion: v1, "+tt.object+"}\n")
			if result.Problem != nil || len(result.Objects) != 1 {
				t.Fatal(result.Problem, len(result.Objects))
			}
			var unknown []string
			for _, u := range result.Objects[0].Unknown {
				unknown = append(unknown, strings.Join(u.Path, "/"))
			}
			if got := strings.Join(unknown, " "); got != tt.unknown {
				t.Errorf("unknown fields %q, want %q", got, tt.unknown)
			}
			if text := string(result.Objects[0].JSON); !strings.Contains(text, tt.content) || strings.Contains(text, "stringData") {
				t.Errorf("%s has not %s", text, tt.content)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name, spec, want string
		kind             render.ProblemKind
	}{
		{"no such input", "  inputs: [{t: a}]\n" + fmt.Sprintf(configMap, "<< inputs.tenant >>", "x"), `map has no entry for key "tenant"`, render.ProblemFailed},
		{"no id", "  inputs: [{t: a}]\n" + fmt.Sprintf(configMap, "<< inputs.id >>", "x"), `map has no entry for key "id"`, render.ProblemFailed},
		{"an id of a provider", "  inputsFrom: [{name: in}]\n" + fmt.Sprintf(configMap, "<< inputs.id >>", "x"), "inputs.id follows from the uid", render.ProblemRefused},
		{"a function that is not there", "  inputs: [{t: a}]\n" + fmt.Sprintf(configMap, "a", "<< uuidv4 >>"), `function "uuidv4" not defined`, render.ProblemFailed},
		{"a random number", "  inputs: [{t: a}]\n" + fmt.Sprintf(configMap, "a", "<< randInt 1 9 >>"), "the result of randInt is random", render.ProblemRefused},
		{"a slug of other letters", "  inputs: [{t: Zürich}]\n" + fmt.Sprintf(configMap, "<< slugify inputs.t >>", "x"), `slugify of "Zürich": letters that are not ASCII are not supported here`, render.ProblemRefused},
		{"no object", "  resources: [{kind: ConfigMap}]\n", "it is no object with apiVersion, kind and metadata.name", render.ProblemFailed},
		{"a copy of nothing", "  resources: [{apiVersion: v1, kind: Secret, metadata: {name: a, annotations: {fluxcd.controlplane.io/copyFrom: a}}}]\n", "must be in the format 'namespace/name'", render.ProblemFailed},
		{"a copy of a kubeconfig from nothing", "  resources: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {fluxcd.controlplane.io/convertKubeConfigFrom: a}}}]\n", "must be in the format 'namespace/name' or", render.ProblemFailed},
		{"a copy with a type that is no string", "  resources: [{apiVersion: v1, kind: Secret, type: null, metadata: {name: a, annotations: {fluxcd.controlplane.io/copyFrom: a/b}}}]\n", "type field of Secret/a/b is not a string", render.ProblemFailed},
		{"an object of two steps", "  steps:\n  - {name: one, resources: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}\n  - {name: two, resources: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]}\n", `already defined in step "one"`, render.ProblemFailed},
		{"another strategy", "  inputStrategy: {name: Permute}\n" + fmt.Sprintf(configMap, "a", "x"), `spec.inputStrategy.name "Permute" is not supported`, render.ProblemFailed},
		{"steps beside resources", "  steps: [{name: one}]\n" + fmt.Sprintf(configMap, "a", "x"), "mutually exclusive", render.ProblemFailed},
		{"a loop without end", "  resourcesTemplate: '<< range until 2000000000 >>a<< end >>'\n", "limit", render.ProblemRefused},
		{"many inputs, each with a long loop", "  inputs: [" + strings.Repeat("{t: a},", 100) + "]\n  resourcesTemplate: '<< range until 30000 >><< end >>'\n", "limit of 2000000 steps", render.ProblemRefused},
		{"many inputs, each with long texts", "  inputs: [" + strings.Repeat("{t: a},", 100) + "]\n  resourcesTemplate: '<<- range until 9 >><<- $x := repeat 4000000 \"a\" >><<- end >>'\n", "limit of 1073741824 bytes", render.ProblemRefused},
		{"a text without end", "  resourcesTemplate: '<< repeat 2000000000 \"a\" >>'\n", "limit", render.ProblemRefused},
		{"a number of many digits", "  resourcesTemplate: '<< printf \"%2000000000d\" 1 >>'\n", "", ""},
		{"too many objects", "  resourcesTemplate: |\n    <<- range $i := until 10001 >>\n    ---\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: a<< $i >>}}\n    <<- end >>\n", "more than the limit of 10000 objects", render.ProblemRefused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var inputs []render.Input
			if strings.Contains(tt.spec, "inputsFrom") {
				inputs = []render.Input{{Provider: render.ObjectRef{Kind: "ResourceSetInputProvider", Name: "in"}, Values: json.RawMessage(`{"id":"a"}`)}}
			}
			result := renderSet(t, tt.spec, inputs...)
			switch {
			case tt.want == "": // the library writes %!(BADWIDTH)
			case result.Problem == nil:
				t.Fatalf("%d objects, want a problem", len(result.Objects))
			case !strings.Contains(result.Problem.Message, tt.want) || result.Problem.Kind != tt.kind:
				t.Errorf("got %s: %s, want %s: %s", result.Problem.Kind, result.Problem.Message, tt.kind, tt.want)
			}
		})
	}
}

func TestSlugify(t *testing.T) {
	long := strings.Repeat("abcdefgh-", 10)
	for text, want := range map[string]string{
		" Feature/ABC-1_x ": "feature-abc-1_x", "it's": "its", "a&b @ c": "aandb-at-c", "--a--": "a", long: strings.TrimSuffix(long[:63], "-"),
		strings.Repeat("a", 70): strings.Repeat("a", 63),
	} {
		if got, err := slugify(text); got != want || err != nil {
			t.Errorf("slugify(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := slugify("straße"); err == nil {
		t.Error("letters that are not ASCII are not refused")
	}
}
