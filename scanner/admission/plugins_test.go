package admission

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/scanner/kinds"
)

const podText = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {SPEC containers: [{name: c, image: nginx}]}}"

// TestBuiltinPluginsReadTheState: some defaults come from objects of the state.
func TestBuiltinPluginsReadTheState(t *testing.T) {
	tests := []struct {
		name, state, object string
		field               []string
		want                any
	}{
		{
			"a LimitRange sets default limits",
			"{apiVersion: v1, kind: LimitRange, metadata: {name: l}, spec: {limits: [{type: Container, default: {memory: 1Gi}}]}}",
			strings.Replace(podText, "SPEC", "", 1),
			[]string{"metadata", "annotations", "kubernetes.io/limit-ranger"},
			"LimitRanger plugin set: memory request for container c; memory limit for container c",
		},
		{
			"a PriorityClass sets the priority",
			"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}",
			strings.Replace(podText, "SPEC", "priorityClassName: high,", 1),
			[]string{"spec", "priority"}, int64(1000),
		},
		{
			"a RuntimeClass sets the overhead",
			"{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: kata, overhead: {podFixed: {cpu: 250m}}}",
			strings.Replace(podText, "SPEC", "runtimeClassName: kata,", 1),
			[]string{"spec", "overhead", "cpu"}, "250m",
		},
		{
			"the default IngressClass is used",
			"{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx, annotations: {ingressclass.kubernetes.io/is-default-class: 'true'}}, spec: {controller: example.com/nginx}}",
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}",
			[]string{"spec", "ingressClassName"}, "nginx",
		},
		{
			"the default StorageClass is used",
			"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}, provisioner: example.com/disk}",
			"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
			[]string{"spec", "storageClassName"}, "fast",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req, _, err := open(t, test.state).Prepare(context.Background(), ask("CREATE", object(t, test.object), nil))
			if err != nil {
				t.Fatal(err)
			}
			got, _, _ := unstructured.NestedFieldNoCopy(seen(t, req), test.field...)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", strings.Join(test.field, "."), diff)
			}
		})
	}
}

// TestClassesNobodyDefinesMayExist: a class that nothing defines may exist, unless all are known.
func TestClassesNobodyDefinesMayExist(t *testing.T) {
	for spec, refusal := range map[string]string{
		"priorityClassName: high,": `pods "p" is forbidden: no PriorityClass with name high was found`,
		"runtimeClassName: kata,":  `pods "p" is forbidden: pod rejected: RuntimeClass "kata" not found`,
	} {
		create := ask("CREATE", object(t, strings.Replace(podText, "SPEC", spec, 1)), nil)
		if _, _, err := open(t).Prepare(context.Background(), create); err != nil {
			t.Errorf("%s in an open cluster: %v", spec, err)
		}
		complete := NewCluster(ClusterOptions{Known: kinds.CompleteAll()}, NewIndex(nil))
		if _, _, err := complete.Prepare(context.Background(), create); err == nil || err.Error() != refusal {
			t.Errorf("%s in a complete cluster: %v, want %s", spec, err, refusal)
		}
	}
}

// TestPodSecurity: the labels of a namespace restrict its pods.
func TestPodSecurity(t *testing.T) {
	restricted := "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {pod-security.kubernetes.io/enforce: baseline}}}"
	create := ask("CREATE", object(t, strings.Replace(podText, "SPEC", "hostNetwork: true,", 1)), nil)
	if _, _, err := open(t).Prepare(context.Background(), create); err != nil {
		t.Errorf("without labels: %v", err)
	}
	want := `pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`
	if _, _, err := open(t, restricted).Prepare(context.Background(), create); err == nil || err.Error() != want {
		t.Errorf("with labels: %v, want %s", err, want)
	}
}
