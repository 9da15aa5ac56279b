package scanner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// mistypedWorkload is a Deployment; @ is replaced by more fields.
const mistypedWorkload = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: a
  namespace: shop
spec:@
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers:
      - name: first
        image: a
      - name: second
        image: b@
`

func mistypedSpec(text string) string {
	return strings.Replace(strings.Replace(mistypedWorkload, "@", "\n"+text, 1), "@", "", 1)
}

func mistypedContainer(text string) string {
	return strings.Replace(strings.Replace(mistypedWorkload, "@", "", 1), "@", "\n"+text, 1)
}

// mistypedCases are objects with one value of a wrong type, on the line that ends in "# here".
var mistypedCases = map[string]string{
	"data":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata:\n  b: c\n  a.b/c: 5 # here\n",
	"data as a list": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\nimmutable: false\ndata: [b] # here\n",
	"base64":         "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: shop}\ndata:\n  b: Yw==\n  c: '*' # here\n",
	"annotation":     "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  annotations:\n    b: c\n    example.com/d: true # here\n",
	"finalizers":     "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  finalizers: example.com/b # here\n",
	"time":           "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n  deletionTimestamp: never # here\n",
	"number":         mistypedSpec(`  replicas: "3" # here`),
	"fraction":       mistypedSpec(`  replicas: 1.5 # here`),
	"int or string":  mistypedSpec("  strategy:\n    rollingUpdate:\n      maxUnavailable: 1\n      maxSurge: 1.5 # here"),
	"env":            mistypedContainer("        env:\n        - name: A\n          value: x\n        - name: B\n          value: 5 # here"),
	"port":           mistypedContainer("        ports:\n        - containerPort: 80\n        - containerPort: \"81\" # here"),
	"argument":       mistypedContainer("        args:\n        - --x\n        - 5 # here"),
	"arguments":      mistypedContainer("        args: --x # here"),
	"quantity":       mistypedContainer("        resources:\n          limits:\n            cpu: 1\n            memory: 1Gx # here"),
	"container":      mistypedContainer("      - third # here"),
	"containers":     strings.NewReplacer("containers:\n      - name: first\n        image: a\n      - name: second\n        image: b@", "containers: # here\n        a: {image: b}", "@", "").Replace(mistypedWorkload),
	"custom":         "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: shop}\nspec:\n  list:\n  - name: a\n  - name: b\n    size: x # here\n",
	"custom labels":  "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: a\n  namespace: shop\n  labels:\n    b: c\n    a: 5 # here\n",
}

// mistypedBefore has valid objects of the kinds of mistypedCases.
var mistypedBefore = map[string]string{
	"Deployment": strings.ReplaceAll(mistypedWorkload, "@", ""),
	"ConfigMap":  "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}\n",
	"Secret":     "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}\n",
	"Widget":     "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: shop}}\n",
}

const widgetDefinition = `
-- crds/widgets.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              list:
                type: array
                items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
`

// TestMistyped checks that a value of a wrong type is refused on its own line, for all appliers and messages,
// including those that do not name the field.
func TestMistyped(t *testing.T) {
	for name, object := range mistypedCases {
		lines := strings.Split(object, "\n")
		want := slices.IndexFunc(lines, func(line string) bool { return strings.HasSuffix(line, "# here") }) + 1
		before := mistypedBefore[strings.TrimPrefix(lines[1], "kind: ")]
		for _, by := range append(apply.Appliers(), "") {
			for operation, base := range map[string]string{"CREATE": "", "UPDATE": "-- app/a.yaml --\n" + before} {
				t.Run(name+"/"+by+"/"+operation, func(t *testing.T) {
					in := input(widgetDefinition+base, widgetDefinition+"-- app/a.yaml --\n"+object)
					in.Config.Applier = by
					r := mustScan(t, in)
					if len(r.Findings) != 1 || r.Findings[0].Operation != operation || r.Findings[0].Location.StartLine != want {
						t.Errorf("want one finding on line %d, got %q", want, places(r))
					}
				})
			}
		}
	}
}

// places returns the findings of a report with their lines.
func places(r *report.Report) (all []string) {
	for i, text := range reportLines(r) {
		if i < len(r.Findings) {
			text = fmt.Sprintf("%d: %s", r.Findings[i].Location.StartLine, text)
		}
		all = append(all, text)
	}
	return all
}
