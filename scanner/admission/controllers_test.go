package admission_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/controllers"
)

var updatePods = flag.Bool("update", false, "rewrite golden files")

// object parses an object.
func object(t *testing.T, text string) *admission.Object {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return admission.ParseObject(data)
}

func ask(op k8sadmission.Operation, obj, old *admission.Object) admission.ClientRequest {
	return admission.ClientRequest{Operation: op, User: &user.DefaultInfo{Name: "flux"}, Object: obj, OldObject: old}
}

func gr(group, resource string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: resource}
}

// sent is a generated object in the form of the golden files.
type sent struct {
	User   string         `json:"user"`
	Groups []string       `json:"groups"`
	Object map[string]any `json:"object"`
}

// chain returns the objects generated from a workload, down to its Pod, if each request is allowed.
func chain(t *testing.T, c *admission.Cluster, a admission.ClientRequest) []*controllers.Generated {
	t.Helper()
	list := []*controllers.Generated{}
	for {
		req, _, err := c.Prepare(t.Context(), a)
		if err != nil {
			t.Fatalf("prepare: %v", err)
		}
		g, err := controllers.Generate(req)
		if err != nil {
			t.Fatal(err)
		}
		if g == nil {
			return list
		}
		list = append(list, g)
		a = g.Request()
	}
}

// TestGenerated compares the objects that controllers send with testdata/pods.
func TestGenerated(t *testing.T) {
	files, err := filepath.Glob("testdata/pods/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for i, g := range chain(t, admission.NewCluster(admission.ClusterOptions{}), ask(k8sadmission.Create, object(t, string(archive.Files[0].Data)), nil)) {
				data, err := yaml.Marshal(sent{g.User.GetName(), g.User.GetGroups(), g.Object.Content()})
				if err != nil {
					t.Fatal(err)
				}
				if i > 0 {
					got.WriteString("---\n")
				}
				got.Write(data)
			}
			if *updatePods {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "sent.yaml", Data: []byte(got.String())})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got.String()); diff != "" {
				t.Errorf("what controllers send (-want +got):\n%s", diff)
			}
		})
	}
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

// workload returns a workload of one container with additional fields in its spec.
func workload(apiVersion, kind, spec string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: web, namespace: shop}\nspec:\n  " + spec + "\n"
}

const (
	selector = "selector: {matchLabels: {app: web}}\n  "
	template = "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: nginx}]}}"
	once     = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: nginx}]}}"
)

func TestGeneratedKinds(t *testing.T) {
	tests := []struct {
		name, text string
		op         k8sadmission.Operation
		want       string
	}{
		{"deployment", workload("apps/v1", "Deployment", selector+template), k8sadmission.Create, "ReplicaSet Pod"},
		{"deployment updated", workload("apps/v1", "Deployment", selector+template), k8sadmission.Update, "ReplicaSet Pod"},
		{"deployment deleted", workload("apps/v1", "Deployment", selector+template), k8sadmission.Delete, ""},
		{"no replicas", workload("apps/v1", "Deployment", "replicas: 0\n  "+selector+template), k8sadmission.Create, "ReplicaSet"},
		{"paused", workload("apps/v1", "Deployment", "paused: true\n  "+selector+template), k8sadmission.Create, ""},
		{"recreated", workload("apps/v1", "Deployment", "strategy: {type: Recreate}\n  "+selector+template), k8sadmission.Create, "ReplicaSet Pod"},
		{"replica set", workload("apps/v1", "ReplicaSet", selector+template), k8sadmission.Create, "Pod"},
		{"replica set at 0", workload("apps/v1", "ReplicaSet", "replicas: 0\n  "+selector+template), k8sadmission.Create, ""},
		{"replication controller at 0", workload("v1", "ReplicationController", "replicas: 0\n  "+template), k8sadmission.Create, ""},
		{"stateful set at 0", workload("apps/v1", "StatefulSet", "replicas: 0\n  "+selector+template), k8sadmission.Create, ""},
		{"job", workload("batch/v1", "Job", once), k8sadmission.Create, "Pod"},
		{"job updated", workload("batch/v1", "Job", once), k8sadmission.Update, "Pod"},
		{"job suspended", workload("batch/v1", "Job", "suspend: true\n  "+once), k8sadmission.Create, ""},
		{"job at 0", workload("batch/v1", "Job", "parallelism: 0\n  "+once), k8sadmission.Create, ""},
		{"job of another controller", workload("batch/v1", "Job", "managedBy: example.com/other\n  "+once), k8sadmission.Create, ""},
		{"cron job", workload("batch/v1", "CronJob", "schedule: '* * * * *'\n  jobTemplate: {spec: {"+once+"}}"), k8sadmission.Create, "Job Pod"},
		{"cron job suspended", workload("batch/v1", "CronJob", "suspend: true\n  schedule: '* * * * *'\n  jobTemplate: {spec: {"+once+"}}"), k8sadmission.Create, ""},
		{"no workload", "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", k8sadmission.Create, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := object(t, test.text)
			a := ask(test.op, o, o)
			switch test.op {
			case k8sadmission.Create:
				a.OldObject = nil
			case k8sadmission.Delete:
				a.Object = nil
			case k8sadmission.Update:
				a.Applier = apply.Flux
			}
			got := []string{}
			for _, g := range chain(t, admission.NewCluster(admission.ClusterOptions{}), a) {
				got = append(got, g.Object.GroupVersionKind().Kind)
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("creates %q, want %q", s, test.want)
			}
		})
	}
}

// TestGeneratedOwner: the owner of a generated object has the uid of the stored workload, both at
// creation and at an update.
func TestGeneratedOwner(t *testing.T) {
	c, o := admission.NewCluster(admission.ClusterOptions{}), object(t, webDeployment)
	update := ask(k8sadmission.Update, o, o)
	update.Applier = apply.Flux
	for _, a := range []admission.ClientRequest{ask(k8sadmission.Create, o, nil), update} {
		owner := a
		for _, g := range chain(t, c, a) {
			req, _, err := c.Prepare(t.Context(), owner)
			if err != nil {
				t.Fatal(err)
			}
			refs, _ := g.Object.Content()["metadata"].(map[string]any)["ownerReferences"].([]any)
			ref, _ := refs[0].(map[string]any)
			v, err := req.Version(req.GetKind())
			if err != nil {
				t.Fatal(err)
			}
			meta, _ := v.Object["metadata"].(map[string]any)
			if ref["uid"] == "" || ref["uid"] != meta["uid"] || ref["name"] != meta["name"] || ref["controller"] != true {
				t.Errorf("%s %s: owner %v, want uid %v of %v", a.Operation, g.Object.GroupVersionKind().Kind, ref, meta["uid"], meta["name"])
			}
			owner = g.Request()
		}
	}
}

func TestOwnerField(t *testing.T) {
	claims := workload("apps/v1", "StatefulSet", `serviceName: web
  `+selector+`volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
  template:
    metadata: {labels: {app: web}}
    spec: {volumes: [{name: data, emptyDir: {}}, {name: tmp, emptyDir: {}}], containers: [{name: c, image: nginx}]}`)
	tests := []struct {
		name, text string
		depth      int
		field      string
		want       string
	}{
		{"image", webDeployment, 1, "spec.containers[0].image", "spec.template.spec.containers[0].image"},
		{"labels", webDeployment, 1, "metadata.labels[app.kubernetes.io/name]", "spec.template.metadata.labels[app.kubernetes.io/name]"},
		{"name", webDeployment, 1, "metadata.generateName", "metadata.name"},
		{"kind", webDeployment, 1, "kind", ""},
		{"not a prefix", webDeployment, 1, "specification", ""},
		{"replica set's labels", webDeployment, 0, "metadata.labels.app", "spec.template.metadata.labels.app"},
		{"replica set's annotations", webDeployment, 0, "metadata.annotations.a", "metadata.annotations.a"},
		{"replicas", webDeployment, 0, "spec.replicas", "spec.replicas"},
		{"job", workload("batch/v1", "CronJob", "schedule: '* * * * *'\n  jobTemplate: {spec: {"+once+"}}"), 0, "spec.backoffLimit", "spec.jobTemplate.spec.backoffLimit"},
		{"job's labels", workload("batch/v1", "CronJob", "schedule: '* * * * *'\n  jobTemplate: {spec: {"+once+"}}"), 0, "metadata.labels.a", "spec.jobTemplate.metadata.labels.a"},
		{"claim", claims, 0, "spec.volumes[0].persistentVolumeClaim", "spec.volumeClaimTemplates[0].persistentVolumeClaim"},
		{"volume behind a claim", claims, 0, "spec.volumes[1].emptyDir", "spec.template.spec.volumes[1].emptyDir"},
		{"hostname", claims, 0, "spec.hostname", "metadata.name"},
		{"subdomain", claims, 0, "spec.subdomain", "spec.serviceName"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			list := chain(t, admission.NewCluster(admission.ClusterOptions{}), ask(k8sadmission.Create, object(t, test.text), nil))
			got, ok := list[test.depth].OwnerField(test.field)
			if got != test.want || ok != (test.want != "") {
				t.Errorf("OwnerField(%s) = %q, %v; want %q", test.field, got, ok, test.want)
			}
		})
	}
}

func TestGeneratedBy(t *testing.T) {
	tests := []struct {
		group, kind string
		want        []schema.GroupResource
	}{
		{"apps", "Deployment", []schema.GroupResource{gr("apps", "replicasets"), gr("", "pods")}},
		{"batch", "CronJob", []schema.GroupResource{gr("batch", "jobs"), gr("", "pods")}},
		{"", "ReplicationController", []schema.GroupResource{gr("", "pods")}},
		{"", "Pod", nil},
		{"example.com", "Deployment", nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, controllers.GeneratedBy(schema.GroupKind{Group: test.group, Kind: test.kind})); diff != "" {
			t.Errorf("GeneratedBy(%s, %s) (-want +got):\n%s", test.group, test.kind, diff)
		}
	}
}

func TestJudgesPods(t *testing.T) {
	c := admission.NewCluster(admission.ClusterOptions{}, admission.NewIndex([]*admission.Object{
		object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: strict, labels: {pod-security.kubernetes.io/enforce: baseline}}}"),
		object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: lax, labels: {pod-security.kubernetes.io/enforce: privileged, pod-security.kubernetes.io/warn: restricted}}}"),
		object(t, "{apiVersion: v1, kind: LimitRange, metadata: {name: limits, namespace: limited}, spec: {limits: []}}"),
	}))
	for namespace, want := range map[string]bool{"strict": true, "lax": false, "limited": true, "unknown": false} {
		if got := controllers.JudgesPods(c, namespace); got != want {
			t.Errorf("JudgesPods(%s) = %v, want %v", namespace, got, want)
		}
	}
}
