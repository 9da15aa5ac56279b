package scanner_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/scanner/clusterconfig"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/target"
)

// TestOtherServers: of what files say only what changes verdicts counts.
func TestOtherServers(t *testing.T) {
	settings := []clusterconfig.Setting{
		{Path: "a", Version: "v1.34.2"}, {Path: "b", Version: "v1.34.2"}, {Path: "c", Version: "v1.36.0"}, {Path: "d", Version: "v1.29"},
		{Path: "e", FeatureGates: map[string]bool{"HPAScaleToZero": true, "ImageVolume": true, "NoSuchGate": true}},
		{Path: "f", RuntimeConfig: map[string]bool{"admissionregistration.k8s.io/v1beta1": true, "apps/v1": true, "batch/v2alpha1": true}},
		{Path: "g", RuntimeConfig: map[string]bool{"api/beta": true}}, {Path: "h", RuntimeConfig: map[string]bool{"api/ga": true}},
		{Path: "i", RuntimeConfig: map[string]bool{"apps/v1/deployments": false}},
	}
	differences := func(c *config.Config) (all []string) {
		for _, d := range target.OtherServers(settings, c) {
			all = append(all, fmt.Sprintf("%s+%d %s: %s", d.Path, d.Others, d.Has, d.Instead))
		}
		return all
	}
	want := []string{
		"a+1 Kubernetes v1.34.2: kubernetesVersion in .preadmit.yaml, or --kubernetes-version, sets it",
		"d+0 Kubernetes v1.29: an API server of that version cannot be imitated",
		"e+0 --feature-gates=HPAScaleToZero=true: featureGates in .preadmit.yaml, or --feature-gates, sets it",
		"f+0 --runtime-config=admissionregistration.k8s.io/v1beta1=true: runtimeConfig in .preadmit.yaml, or --runtime-config, sets it",
		"g+0 --runtime-config=api/beta=true: runtimeConfig in .preadmit.yaml, or --runtime-config, sets it",
		"i+0 --runtime-config=apps/v1/deployments=false: runtimeConfig in .preadmit.yaml, or --runtime-config, sets it",
	}
	if diff := cmp.Diff(want, differences(&config.Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	configured := &config.Config{KubernetesVersion: "1.35", Targets: []config.Target{{FeatureGates: map[string]bool{}}, {RuntimeConfig: map[string]bool{}}}}
	if got := differences(configured); got != nil {
		t.Errorf("of what is configured: %q", got)
	}
}
