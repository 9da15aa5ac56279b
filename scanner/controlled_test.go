package scanner_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// Fields that controllers write after an object was applied decide what may be changed, and are
// unknown to a repository.

const claim = `
-- classes/std.yaml --
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: std}
provisioner: x.example.com
allowVolumeExpansion: true
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fixed}
provisioner: x.example.com
-- app/claim.yaml --
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec:
  storageClassName: std
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 2Gi}}
`

const scaledWeb = `
-- app/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
-- app/scaler.yaml --
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: busy, namespace: shop}
spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`

// updateRule is a policy that denies updates of a resource.
func updateRule(group, resource, expression string) string {
	return `
-- policies/rule.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: rule}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: ["` + group + `"], apiVersions: [v1], operations: [UPDATE], resources: [` + resource + `]}]
  validations: [{expression: "` + expression + `", message: not so}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: rule}
spec: {policyName: rule, validationActions: [Deny]}
`
}

func TestWhatControllersWrote(t *testing.T) {
	replace := strings.NewReplacer
	grown := replace("storage: 2Gi", "storage: 3Gi")
	next := replace("web:1", "web:2")
	few := updateRule("apps", "deployments", "object.spec.replicas <= 3")
	for name, test := range map[string]struct {
		base             string
		change           *strings.Replacer
		by               apply.Applier
		denied, unjudged string
	}{
		"a bound claim may grow":             {base: claim, change: grown},
		"a bound claim may grow for Argo CD": {base: claim, change: grown, by: apply.ArgoCD},
		"not where its class forbids it": {
			base: replace("Name: std", "Name: fixed").Replace(claim), change: grown,
			denied: "the storageclass that provisions the pvc must support resize",
		},
		"its class is not known": {
			base: replace("Name: std", "Name: fast").Replace(claim), change: grown,
			unjudged: `StorageClass "fast" is not in the repository`,
		},
		"no class is known": {
			base: replace("storageClassName: std", "volumeMode: Filesystem").Replace(claim), change: grown,
			unjudged: "the default one is not in the repository",
		},
		"a claim without a class never grows": {
			base: replace("Name: std", `Name: ""`).Replace(claim), change: grown,
			denied: "only dynamically provisioned pvc can be resized",
		},
		"a claim does not shrink": {
			base: claim, change: replace("storage: 2Gi", "storage: 1Gi"), denied: "field can not be less than status.capacity",
		},
		"a claim keeps its modes": {
			base: claim, change: replace("ReadWriteOnce", "ReadWriteMany"), denied: "spec is immutable after creation",
		},
		"a policy reads the volume": {
			base: claim + updateRule("", "persistentvolumeclaims", "object.spec.volumeName.startsWith('pv-')"), change: grown,
			unjudged: "the cluster binds the claim to a volume",
		},
		"the volume is written": {
			base:   replace("Name: std", "Name: std\n  volumeName: pv-1").Replace(claim) + updateRule("", "persistentvolumeclaims", "object.spec.volumeName.startsWith('pv-')"),
			change: grown,
		},
		"a scaler sets replicas": {
			base: scaledWeb + few, change: next, unjudged: "HorizontalPodAutoscaler busy sets it",
		},
		"a scaler sets replicas for Argo CD": {
			base: scaledWeb + few, change: next, by: apply.ArgoCD, unjudged: "HorizontalPodAutoscaler busy sets it",
		},
		"it keeps them when the manifest drops its own": {
			base: replace("  selector", "  replicas: 2\n  selector").Replace(scaledWeb) + few, change: replace("  replicas: 2\n", ""),
			unjudged: "HorizontalPodAutoscaler busy sets it",
		},
		"the manifest sets them again": {
			base: scaledWeb + few, change: replace("  selector", "  replicas: 2\n  selector"),
		},
		"the manifest always sets them, and takes no field from others": {
			base: replace("  selector", "  replicas: 2\n  selector").Replace(scaledWeb), change: next, by: apply.KubectlSSA,
			unjudged: "HorizontalPodAutoscaler busy sets it",
		},
		"the manifest always sets them by force": {
			base: replace("  selector", "  replicas: 2\n  selector").Replace(scaledWeb), change: next, by: apply.Flux,
		},
		"refused for something else": {
			base: replace("  selector", "  replicas: 2\n  selector").Replace(scaledWeb), change: replace("app: web", "app: shop"), by: apply.Flux,
			denied: "field is immutable",
		},
		"the manifest names the volume from now on": {
			base: claim, change: replace("Name: std", "Name: std\n  volumeName: pv-1"), unjudged: "the cluster binds the claim to a volume",
		},
		"the manifest names the volume from now on, and takes no field from others": {
			base: claim, change: replace("Name: std", "Name: std\n  volumeName: pv-1"), by: apply.KubectlSSA, unjudged: "the cluster binds the claim to a volume",
		},
		"too many": {
			base: scaledWeb + few, change: replace("  selector", "  replicas: 7\n  selector"), denied: "not so",
		},
		"a scaler of another workload": {
			base: replace("name: web}}", "name: shop}}").Replace(scaledWeb) + few, change: next,
		},
	} {
		in := input(test.base, test.change.Replace(test.base))
		in.Config.Applier = string(test.by)
		in.Config.Workloads = new(bool)
		r := mustScan(t, in)
		denied, unjudged := "", ""
		for _, f := range r.Findings {
			denied += f.Message
		}
		for _, i := range r.Indeterminate {
			unjudged += i.Why
		}
		has := func(got, want string) bool { return (got == "") == (want == "") && strings.Contains(got, want) }
		if !has(denied, test.denied) || !has(unjudged, test.unjudged) {
			t.Errorf("%s: denied %q, not judged %q; want %q and %q", name, denied, unjudged, test.denied, test.unjudged)
		}
	}
}

const shelf = `
-- crds/shelves.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shelves.example.com}
spec:
  group: example.com
  names: {kind: Shelf, plural: shelves, singular: shelf, listKind: ShelfList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}, status: {type: object, properties: {ready: {type: boolean}}}}}}
-- app/shelf.yaml --
apiVersion: example.com/v1
kind: Shelf
metadata: {name: a, namespace: shop}
spec: {size: 1}
`

// TestStatusIsOfTheCluster checks that the status, which controllers write, is unknown. A verdict that
// does not depend on it is certain, as is one on a new object.
func TestStatusIsOfTheCluster(t *testing.T) {
	const unknown = "status, which is not known: the controllers of the cluster write it"
	next := strings.NewReplacer("size: 1", "size: 2", "web:1", "web:2").Replace
	whole := strings.Replace(shelf, "    subresources: {status: {}}\n", "", 1)
	for name, test := range map[string]struct{ base, head, rule, want string }{
		"a status is read":                  {shelf, next(shelf), "object.?status.ready.orValue(false) == true", "not judged: spec.validations[0] depends on object." + unknown},
		"whether there is one":              {shelf, next(shelf), "!has(oldObject.status)", "not judged: spec.validations[0] depends on oldObject." + unknown},
		"the verdict does not turn on it":   {shelf, next(shelf), "object.spec.size > 2 && has(object.status)", "existing UPDATE: not so"},
		"nor does this":                     {shelf, next(shelf), "object.spec.size < 3 || has(object.status)", ""},
		"the object is deleted":             {shelf, strings.Split(shelf, "-- app")[0], "oldObject.status.ready == true", "not judged: spec.validations[0] depends on oldObject." + unknown},
		"the object is new":                 {strings.Split(shelf, "-- app")[0], shelf, "has(object.status)", "new CREATE: not so"},
		"the kind has no status of its own": {whole, next(whole), "has(object.status)", "existing UPDATE: not so"},
		"a kind of Kubernetes":              {servedWeb, next(servedWeb), "oldObject.status.?replicas.orValue(0) > 1", "not judged: spec.validations[0] depends on oldObject." + unknown},
	} {
		resource := [2]string{"example.com", "shelves"}
		if test.base == servedWeb {
			resource = [2]string{"apps", "deployments"}
		}
		rule := strings.Replace(updateRule(resource[0], resource[1], test.rule), "[UPDATE]", "['*']", 1)
		if got := outcomeOf(scanLive(t, test.base+rule, test.head+rule, "", apply.Flux)); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
