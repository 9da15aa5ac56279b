package admission

import (
	"testing"

	api "k8s.io/kubernetes/pkg/apis/core"
)

// TestTimesAreOfNoClock: times that a server takes from its clock have one fixed value here.
func TestTimesAreOfNoClock(t *testing.T) {
	pod := object(t, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {serviceAccountName: default, automountServiceAccountToken: false, schedulingGates: [{name: example.com/g}], containers: [{name: c, image: i}]}}")
	volume := object(t, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], nfs: {server: a, path: /}}}")
	for _, o := range []*Object{pod, volume} {
		for _, a := range []ClientRequest{ask("CREATE", o, nil), ask("UPDATE", o, o)} {
			req, _, err := open(t).Prepare(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			for _, obj := range []any{req.GetObject(), req.GetOldObject()} {
				switch o := obj.(type) {
				case *api.Pod:
					if at := Created(); !o.Status.Conditions[0].LastTransitionTime.Equal(&at) {
						t.Errorf("%s: the condition is of %s", a.Operation, o.Status.Conditions[0].LastTransitionTime)
					}
				case *api.PersistentVolume:
					if at := Created(); !o.Status.LastPhaseTransitionTime.Equal(&at) {
						t.Errorf("%s: the phase is of %s", a.Operation, o.Status.LastPhaseTransitionTime)
					}
				}
			}
		}
	}
}
