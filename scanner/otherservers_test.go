package scanner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/scanner/clusterconfig"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/target"
)

// TestOtherServers checks that only settings that change verdicts are reported.
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
			all = append(all, fmt.Sprintf("%s+%d %s", d.Path, d.Others, d.Description))
		}
		return all
	}
	want := []string{
		"a+1 Kubernetes v1.34.2, and verdicts are those of v1.36.3: kubernetesVersion in .preadmit.yaml, or --kubernetes-version, sets it",
		"d+0 Kubernetes v1.29, and verdicts are those of v1.36.3: an API server of its version cannot be imitated",
		"e+0 --feature-gates=HPAScaleToZero=true, which verdicts do not go by: featureGates in .preadmit.yaml, or --feature-gates, sets it",
		"f+0 --runtime-config=admissionregistration.k8s.io/v1beta1=true, which verdicts do not go by: runtimeConfig in .preadmit.yaml, or --runtime-config, sets it",
		"g+0 --runtime-config=api/beta=true, which verdicts do not go by: runtimeConfig in .preadmit.yaml, or --runtime-config, sets it",
		"i+0 --runtime-config=apps/v1/deployments=false, which verdicts do not go by: runtimeConfig in .preadmit.yaml, or --runtime-config, sets it",
	}
	if diff := cmp.Diff(want, differences(&config.Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	configured := &config.Config{KubernetesVersion: "1.35", Targets: []config.Target{{FeatureGates: map[string]bool{}}, {RuntimeConfig: map[string]bool{}}}}
	if got := differences(configured); got != nil {
		t.Errorf("of what is configured: %q", got)
	}
}

// TestOtherServersOfAChange checks that settings are only looked for if the API server itself has findings,
// since a warm scan reads only what changed.
func TestOtherServersOfAChange(t *testing.T) {
	const talos = "-- talos.yaml --\ncluster: {apiServer: {extraArgs: {feature-gates: HPAScaleToZero=true}}}\n"
	const zero = "-- hpa.yaml --\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {minReplicas: 0, maxReplicas: 2, scaleTargetRef: {kind: Deployment, name: a, apiVersion: apps/v1}, " +
		"metrics: [{type: External, external: {metric: {name: m}, target: {type: Value, value: 1}}}]}}\n"
	const one = "-- hpa.yaml --\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {minReplicas: 1, maxReplicas: 2, scaleTargetRef: {kind: Deployment, name: a, apiVersion: apps/v1}}}\n"
	for _, test := range []struct {
		name, base, head string
		want             int
	}{
		{"whole, nothing found", "", talos + one, 1},
		{"whole, denied", "", talos + zero, 1},
		{"a change, nothing found", talos + "-- other.yaml --\na: b\n", talos + one, 0},
		{"a change, denied", talos + "-- other.yaml --\na: b\n", talos + zero, 1},
		{"no other server", "", one, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := 0
			for _, d := range mustScan(t, input(test.base, test.head)).Diagnostics {
				if strings.Contains(d.Message, "--feature-gates=HPAScaleToZero=true") {
					got++
					if d.Location == nil || d.Location.Path != "talos.yaml" || d.Location.StartLine != 1 {
						t.Errorf("at %+v", d.Location)
					}
				}
			}
			if got != test.want {
				t.Errorf("%d remarks, want %d", got, test.want)
			}
		})
	}
}
