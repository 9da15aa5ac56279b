package deploy

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/preadmit/preadmit/internal/deploytest"
	"sigs.k8s.io/yaml"
)

// TestChartAgreesWithKustomize: both deploy the same, field by field, but for what is
// named here.
func TestChartAgreesWithKustomize(t *testing.T) {
	const config, annotations = "spec.template.spec.volumes[1].configMap.name", "spec.template.metadata.annotations"
	tests := []struct {
		kustomize, chart string
		// differences of the workloads, and of the configuration.
		workload, config []string
	}{
		{"base", "embedded", []string{
			annotations + ".checksum/config: only in the chart", // kustomize changes the name of the ConfigMap
			config + ": differs",
		}, []string{
			"app.clientID: only in the chart", "app.id: only in the chart", "publicURL: only in the chart", // everybody's own
		}},
		{"external-nats", "external", []string{
			annotations + ".checksum/config: only in the chart",
			"spec.template.spec.containers[0].env[2].name: only in kustomize", // PREADMIT_NATS_URL, in the chart's file
			"spec.template.spec.containers[0].env[2].value: only in kustomize",
			config + ": differs",
		}, []string{
			"app.clientID: only in the chart", "app.id: only in the chart", "nats.url: only in the chart", "publicURL: only in the chart",
		}},
	}
	for _, test := range tests {
		t.Run(test.chart, func(t *testing.T) {
			ours := formObjects(t, test.kustomize)
			charts := formObjects(t, test.chart)
			same(t, "configuration", test.config, configuration(t, ours), configuration(t, charts))
			for _, kind := range []string{"StatefulSet", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount"} {
				var want []string
				if kind == "StatefulSet" || kind == "Deployment" {
					want = test.workload
				}
				o, c := deploytest.One(t, ours, kind), deploytest.One(t, charts, kind)
				if (o == nil) != (c == nil) {
					t.Errorf("%s: only one of both has it", kind)
				}
				if o != nil && c != nil {
					same(t, kind, want, anonymous(o), anonymous(c))
				}
			}
			if len(ours) != len(charts)+1 { // the Namespace
				t.Errorf("%d objects of kustomize, %d of the chart", len(ours), len(charts))
			}
		})
	}
}

// formObjects renders the form of a name.
func formObjects(t *testing.T, name string) []deploytest.Object {
	t.Helper()
	for _, f := range deploytest.Forms(t, ".") {
		if f.Name == name {
			return deploytest.Objects(t, f.Tree)
		}
	}
	t.Fatalf("there is no form %s", name)
	return nil
}

// configuration is what the ConfigMap says, with the keys of webhooks.Config.
func configuration(t *testing.T, all []deploytest.Object) map[string]any {
	t.Helper()
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(deploytest.One(t, all, "ConfigMap").Field("data['serve.yaml']").(string)), &content); err != nil {
		t.Fatal(err)
	}
	return content
}

// anonymous is an object without its labels and annotations, which say who made it.
func anonymous(o deploytest.Object) map[string]any {
	o = maps.Clone(o)
	metadata := o["metadata"].(map[string]any)
	o["metadata"] = map[string]any{"name": metadata["name"], "namespace": metadata["namespace"]}
	return o
}

// same compares two contents: want lists the fields that differ.
func same(t *testing.T, what string, want []string, kustomize, chart map[string]any) {
	t.Helper()
	ours, charts := map[string]string{}, map[string]string{}
	flatten("", kustomize, ours)
	flatten("", chart, charts)
	got := []string{}
	for path, value := range ours {
		switch other, there := charts[path]; {
		case !there:
			got = append(got, path+": only in kustomize")
		case other != value:
			got = append(got, path+": differs")
		}
	}
	for path := range charts {
		if _, there := ours[path]; !there {
			got = append(got, path+": only in the chart")
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		t.Errorf("%s: differences between kustomize and the chart (-named +found):\n%s", what, diff)
	}
}

// flatten gives the fields of a content that have no fields themselves, by path.
func flatten(path string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			if path == "" {
				flatten(key, field, into)
			} else {
				flatten(path+"."+key, field, into)
			}
		}
	case []any:
		for i, item := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), item, into)
		}
	default:
		into[path] = fmt.Sprint(v)
	}
}
