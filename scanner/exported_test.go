package scanner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// An object of the cluster that is given with --context is the old object of an update.

const servedWeb = `
-- app/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {tier: a}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "ours/web:1"}]}
`

// liveWeb is the same object in the cluster: scaled to 8, with a sidecar and an annotation.
const liveWeb = `
-- web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  uid: 11111111-2222-3333-4444-555555555555
  resourceVersion: "812"
  creationTimestamp: "2026-01-01T00:00:00Z"
  generation: 4
  labels: {tier: a}
MANAGERS
spec:
  replicas: 8
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {kubectl.kubernetes.io/restartedAt: "2026-01-01T00:00:00Z"}
    spec: {containers: [{name: web, image: "ours/web:1"}, {name: proxy, image: "theirs/proxy:1"}]}
status: {observedGeneration: 4, replicas: 8, readyReplicas: 7}
`

// webManagers are the field managers of liveWeb; MANAGER applied the manifest.
const webManagers = `  managedFields:
  - manager: MANAGER
    operation: Apply
    apiVersion: apps/v1
    fieldsType: FieldsV1
    time: "2026-01-01T00:00:00Z"
    fieldsV1:
      f:metadata: {f:labels: {f:tier: {}}}
      f:spec:
        f:selector: {}
        f:template:
          f:metadata: {f:labels: {f:app: {}}}
          f:spec: {f:containers: {'k:{"name":"web"}': {.: {}, f:name: {}, f:image: {}}}}
  - manager: kube-controller-manager
    operation: Update
    apiVersion: apps/v1
    fieldsType: FieldsV1
    subresource: scale
    time: "2026-01-01T00:00:00Z"
    fieldsV1: {f:spec: {f:replicas: {}}}
  - manager: injector
    operation: Update
    apiVersion: apps/v1
    fieldsType: FieldsV1
    time: "2026-01-01T00:00:00Z"
    fieldsV1:
      f:spec:
        f:template:
          f:metadata: {f:annotations: {.: {}, 'f:kubectl.kubernetes.io/restartedAt': {}}}
          f:spec: {f:containers: {'k:{"name":"proxy"}': {.: {}, f:name: {}, f:image: {}}}}
`

// managedBy returns liveWeb with managers, or without if manager is empty.
func managedBy(manager string) string {
	managers := strings.TrimSuffix(strings.ReplaceAll(webManagers, "MANAGER", manager), "\n")
	if manager == "" {
		managers = "  annotations: {}"
	}
	return strings.Replace(liveWeb, "MANAGERS", managers, 1)
}

// webRule is a policy about Deployments.
func webRule(operation, expression string) string {
	return strings.Replace(updateRule("apps", "deployments", strings.ReplaceAll(expression, `"`, `\"`)), "UPDATE", operation, 1)
}

// scanLive scans a change with objects of the cluster given.
func scanLive(t *testing.T, base, head, exported string, by apply.Applier) *report.Report {
	t.Helper()
	in := input(base, head)
	in.Config.Applier, in.Config.Workloads = string(by), new(bool)
	if exported != "" {
		in.Extra = []scanner.Extra{{Name: "cluster.yaml", FS: tree(exported)}}
	}
	return mustScan(t, in)
}

// outcomeOf describes a report: denials, gaps, or that everything is allowed.
func outcomeOf(r *report.Report) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s %s: %s", f.Status, f.Operation, f.Message))
	}
	for _, i := range r.Indeterminate {
		all = append(all, "not judged: "+i.Why)
	}
	return strings.Join(all, "\n")
}

func TestTheObjectOfTheCluster(t *testing.T) {
	change := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	next := change("web:1", "web:2")
	ours := "object.spec.template.spec.containers.all(c, c.image.startsWith('ours/'))"
	for name, test := range map[string]struct {
		rule   string
		change func(string) string
		live   string
		by     apply.Applier
		want   string
	}{
		"nothing is given":                        {webRule("UPDATE", ours), next, "", apply.Flux, ""},
		"a sidecar that another wrote stays":      {webRule("UPDATE", ours), next, managedBy("kustomize-controller"), apply.Flux, "existing UPDATE: not so"},
		"whose it is need not be known":           {webRule("UPDATE", ours), next, managedBy(""), apply.Flux, "existing UPDATE: not so"},
		"it stays when tools merge":               {webRule("UPDATE", ours), next, managedBy(""), apply.ArgoCD, "existing UPDATE: not so"},
		"it goes when the object is replaced":     {webRule("UPDATE", ours), next, managedBy(""), apply.Replace, ""},
		"an annotation of a restart":              {webRule("UPDATE", "!has(object.spec.template.metadata.annotations)"), next, managedBy(""), apply.Flux, "existing UPDATE: not so"},
		"the status of the object before":         {webRule("UPDATE", "oldObject.status.?readyReplicas.orValue(0) == 7"), next, managedBy(""), apply.Flux, ""},
		"its uid and generation":                  {webRule("UPDATE", "oldObject.metadata.uid.startsWith('1111') && object.metadata.generation == 5 && object.metadata.resourceVersion == '812'"), next, managedBy(""), apply.Flux, ""},
		"replicas that the manifest gives up":     {webRule("UPDATE", "object.spec.replicas == 8"), change("  replicas: 3\n", ""), managedBy(""), apply.Flux, "resolved UPDATE: not so"},
		"replicas that the manifest sets again":   {webRule("UPDATE", "oldObject.spec.replicas == 8 && object.spec.replicas == 3"), next, managedBy(""), apply.Flux, ""},
		"a label that the applier has is removed": {webRule("UPDATE", "!has(object.metadata.labels)"), change(", labels: {tier: a}", ""), managedBy("kustomize-controller"), apply.Flux, "resolved UPDATE: not so"},
		"a label that it last applied is removed": {webRule("UPDATE", "!has(object.metadata.labels)"), change(", labels: {tier: a}", ""), managedBy(""), apply.Flux, "resolved UPDATE: not so"},
		"a label is removed by a merge":           {webRule("UPDATE", "!has(object.metadata.labels)"), change(", labels: {tier: a}", ""), managedBy(""), apply.Kubectl, "resolved UPDATE: not so"},
		"a conflict": {
			webRule("UPDATE", "true"), next, managedBy("kubectl"), apply.KubectlSSA,
			`existing UPDATE: Apply failed with 1 conflict: conflict with "kube-controller-manager" with subresource "scale" using apps/v1: .spec.replicas`,
		},
		"whom it is with is not known": {
			webRule("UPDATE", "true"), next, managedBy(""), apply.KubectlSSA,
			"not judged: whether the server takes the object depends on metadata.managedFields, which is not known: kubectl get --show-managed-fields shows them",
		},
		"a deletion": {
			webRule("DELETE", "oldObject.spec.replicas == 0"), change(servedWeb, "\n"), managedBy(""), apply.Flux, "new DELETE: not so",
		},
		"another applied it, as its managers say": {
			webRule("UPDATE", "!has(object.metadata.labels)"), change(", labels: {tier: a}", ""), managedBy("argocd-controller"), "", "resolved UPDATE: not so",
		},
	} {
		base := servedWeb + test.rule
		if got := outcomeOf(scanLive(t, base, test.change(base), test.live, test.by)); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// TestAnObjectThatOnlyTheClusterHad checks that an object which is new at head but already in the cluster
// is updated.
func TestAnObjectThatOnlyTheClusterHad(t *testing.T) {
	rule := webRule("CREATE, UPDATE", "request.operation == 'UPDATE' && object.spec.template.spec.containers.size() == 2")
	for _, live := range []string{managedBy(""), managedBy("kubectl-edit")} {
		if got := outcomeOf(scanLive(t, rule, servedWeb+rule, live, apply.Flux)); got != "" {
			t.Error(got)
		}
	}
	forced := strings.Replace(servedWeb, "labels: {tier: a}", "annotations: {kustomize.toolkit.fluxcd.io/force: enabled}", 1)
	forced = strings.ReplaceAll(forced, "app: web}", "app: shop}")
	r := scanLive(t, rule, forced+rule, managedBy(""), apply.Flux)
	if got, want := outcomeOf(r), "new CREATE: not so"; got != want { // it is deleted first
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestWithoutABase checks that without a base all objects of a tree are judged as new, whatever the
// cluster has.
func TestWithoutABase(t *testing.T) {
	rule := webRule("CREATE", "false")
	if got, want := outcomeOf(scanLive(t, "", servedWeb+rule, managedBy(""), apply.Flux)), "new CREATE: not so"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestWhoseObjectItIs checks that it is not known which of several roots an object of the cluster belongs
// to.
func TestWhoseObjectItIs(t *testing.T) {
	rule := webRule("UPDATE", "object.spec.template.spec.containers.size() == 1")
	two := servedWeb + strings.Replace(servedWeb, "app/", "other/", 1) + rule
	r := scanLive(t, two, strings.ReplaceAll(two, "web:1", "web:2"), managedBy(""), apply.Flux)
	if got := outcomeOf(r); got != "" {
		t.Error(got)
	}
	if len(r.Diagnostics) != 1 || !strings.Contains(r.Diagnostics[0].Message, "Deployment.apps/shop/web") {
		t.Errorf("notes are %+v", r.Diagnostics)
	}
}

// TestASecretOfTheCluster checks that no content of a Secret in the cluster is shown.
func TestASecretOfTheCluster(t *testing.T) {
	const manifest = `
-- app/key.yaml --
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: shop}
type: Opaque
stringData: {a: public}
`
	const exported = `
-- key.yaml --
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: shop, uid: u, resourceVersion: "1"}
immutable: true
type: Opaque
data: {a: cHVibGlj, token: aHVudGVyMi1odW50ZXIy}
`
	rule := strings.ReplaceAll(updateRule("", "secrets", "false"), "message: not so", `messageExpression: "string(base64.decode(oldObject.data.token)) + oldObject.data.token"`)
	base := manifest + rule
	for name, head := range map[string]string{
		"allowed by the server": strings.Replace(base, "namespace: shop}", "namespace: shop, labels: {a: b}}", 1),
		"refused by it":         strings.Replace(base, "public", "other", 1),
	} {
		got := outcomeOf(scanLive(t, base, head, exported, apply.Flux))
		if got == "" || strings.Contains(got, "hunter") || strings.Contains(got, "aHVudGVy") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestAllFieldsTaken checks an object whose applier no longer owns a field, because others took all of
// them, and is not among the managers.
func TestAllFieldsTaken(t *testing.T) {
	const exported = `
-- shelf.yaml --
apiVersion: example.com/v1
kind: Shelf
metadata:
  name: a
  namespace: shop
  uid: u
  generation: 2
  managedFields:
  - {manager: scaler, operation: Update, apiVersion: example.com/v1, fieldsType: FieldsV1, time: "2026-01-01T00:00:00Z", fieldsV1: {f:spec: {f:size: {}}}}
spec: {size: 8}
`
	next := strings.Replace(shelf, "size: 1", "size: 2", 1)
	for by, want := range map[apply.Applier]string{
		apply.KubectlSSA: `existing UPDATE: Apply failed with 1 conflict: conflict with "scaler" using example.com/v1: .spec.size`,
		apply.Flux:       "",
	} {
		if got := outcomeOf(scanLive(t, shelf, next, exported, by)); got != want {
			t.Errorf("%s: got %q, want %q", by, got, want)
		}
	}
}
