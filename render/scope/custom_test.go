package scope_test

import (
	"testing"

	"github.com/preadmit/preadmit/render/scope"
)

// TestIsClusterScoped checks custom kinds without a definition, as the CustomResourceDefinitions of their projects have
// them.
func TestIsClusterScoped(t *testing.T) {
	for _, test := range []struct {
		group, kind string
		want        bool
	}{
		{"cert-manager.io", "ClusterIssuer", true},
		{"cert-manager.io", "Issuer", false},
		{"pkg.crossplane.io", "Provider", true},
		{"ops.crossplane.io", "CronOperation", true},
		{"protection.crossplane.io", "ClusterUsage", true},
		{"protection.crossplane.io", "Usage", false},
		{"kubernetes.crossplane.io", "Object", true},
		{"helm.crossplane.io", "ProviderConfig", true},
		{"s3.aws.crossplane.io", "Bucket", true},
		{"aws.upbound.io", "ProviderConfig", true},
		{"s3.aws.upbound.io", "Bucket", true},
		{"helm.m.crossplane.io", "Release", false},
		{"helm.m.crossplane.io", "ProviderConfig", false},
		{"helm.m.crossplane.io", "ClusterProviderConfig", true},
		{"s3.aws.m.upbound.io", "Bucket", false},
		{"aws.m.upbound.io", "ClusterProviderConfig", true},
		{"spaces.upbound.io", "ControlPlane", false},
		{"notcrossplane.io", "Claim", false},
		{"example.org", "ClusterProviderConfig", false},
	} {
		if got := scope.IsClusterScoped(test.group, test.kind); got != test.want {
			t.Errorf("%s of %s: cluster-scoped %v, want %v", test.kind, test.group, got, test.want)
		}
	}
}
