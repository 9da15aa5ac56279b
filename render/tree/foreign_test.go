package tree

import "testing"

func TestIsForeign(t *testing.T) {
	for text, want := range map[string]bool{
		`{"apiVersion":"v1alpha1","kind":"KubeAPIServerConfig","image":"x"}`:               true,
		`{"apiVersion":"v1alpha1","kind":"Pod","metadata":{"name":"a"}}`:                   false, // the version is wrong
		`{"apiVersion":"v1","kind":"Pod"}`:                                                 false, // the name is missing
		`{"apiVersion":"kubeadm.k8s.io/v1beta4","kind":"ClusterConfiguration"}`:            true,
		`{"apiVersion":"skaffold/v4beta6","kind":"Config","metadata":{"name":"a"}}`:        true,
		`{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Cluster"}`:                       false,
		`{"apiVersion":"v1","clusters":[],"contexts":[],"kind":"Config","users":[]}`:       true,
		`{"apiVersion":"v1","kind":"Config"}`:                                              false,
		`{"apiVersion":"v1alpha1","kind":"KubeAPIServerConfig","metadata":null,"image":1}`: false,
	} {
		if got := (&Item{Json: []byte(text)}).IsForeign(); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
