package chart

import (
	"strings"
	"testing"
)

// TestLimits: values that are valid separately but not together are refused with a message
// that names both and what to do, and values just within the limits are accepted.
func TestLimits(t *testing.T) {
	tests := []struct{ name, values, want string }{
		{"defaults", "", ""},
		{"memory", "config: {scan: {concurrency: 3}}",
			"resources.limits.memory: 7168Mi is needed, not 5Gi: config.scan.concurrency (3) times config.scan.memory (2Gi), and 1024Mi for the service; raise it, or lower one of these"},
		{"memory in Mi", "{config: {scan: {memory: 1537Mi}}, resources: {limits: {memory: 4Gi}}}",
			"resources.limits.memory: 4098Mi is needed, not 4Gi"},
		{"just the memory", "{config: {scan: {memory: 1536Mi}}, resources: {limits: {memory: 4Gi}}}", ""},
		{"memory for more scans", "config: {keep: {scans: 1000000}}",
			"resources.limits.memory: 7098Mi is needed, not 5Gi: config.scan.concurrency (2) times config.scan.memory (2Gi), and 3002Mi for the service"},
		{"just the memory for more scans", "{config: {keep: {scans: 1000000}}, resources: {limits: {memory: 7098Mi}}}", ""},
		{"more scans outside", "config: {keep: {scans: 1000000}, nats: {url: \"nats://nats:4222\"}}", ""},
		{"fewer scans", "{config: {keep: {scans: 1000}}, resources: {limits: {memory: 5119Mi}}}", "resources.limits.memory: 5120Mi is needed, not 5119Mi"},
		{"too few scans", "config: {keep: {scans: 999}}", "minimum: got 999, want 1,000"},
		{"scratch space", "{config: {scan: {concurrency: 8, memory: 512Mi}}}",
			"scratchSize: 22528Mi is needed, not 8Gi: config.scan.concurrency (8) times config.fetch.size (1Gi), half as much again, and config.artifacts.size (2Gi) with half as much for each scan; raise it, or lower one of these"},
		{"more to fetch", "config: {fetch: {size: 1366Mi}}", "scratchSize: 8194Mi is needed, not 8Gi"},
		{"just the scratch space", "config: {fetch: {size: 1365Mi}}", ""},
		{"to fetch in bytes", "{config: {fetch: {size: \"715827883\"}}, scratchSize: 6Gi}", "scratchSize: 6145Mi is needed, not 6Gi: config.scan.concurrency (2) times config.fetch.size (715827883)"},
		{"nothing to fetch", "{config: {fetch: {size: \"0\"}, artifacts: {fetch: \"off\"}}, scratchSize: 1Mi}", ""},
		{"terabytes to fetch", "config: {fetch: {size: 1Ti}}", "scratchSize: 3149824Mi is needed, not 8Gi"},
		{"storage of the Pod", "scratchSize: 9Gi",
			"resources.limits.ephemeral-storage: more than scratchSize (9Gi) is needed, not 9Gi, since the log counts too; raise it, or lower scratchSize"},
		{"just the storage", "scratchSize: 9215Mi", ""},
		{"storage without a limit", "{scratchSize: 20Gi, resources: {limits: {ephemeral-storage: null}}}", ""},
		{"volume", "config: {keep: {size: 8Gi}}",
			"persistence.size: 12288Mi is needed, not 10Gi: config.keep.size (8Gi), and half as much again; raise it, or lower config.keep.size"},
		{"smaller volume", "persistence: {size: 6143Mi}", "persistence.size: 6144Mi is needed, not 6143Mi: config.keep.size (4Gi)"},
		{"just the volume", "persistence: {size: 6Gi}", ""},
		{"volume that is there", "{config: {keep: {size: 8Gi}}, persistence: {existingClaim: queue}}", ""},
		{"queue outside", "config: {keep: {size: 8Gi}, nats: {url: \"nats://nats:4222\"}}", ""},
		{"drain", "config: {drain: 45s}",
			"terminationGracePeriodSeconds: 70 is needed, not 60: config.drain (45s), 5 seconds before it and 20 after it; raise it, or lower config.drain"},
		{"longer drain", "{config: {drain: 1h1m1.5s}, terminationGracePeriodSeconds: 3686}", "terminationGracePeriodSeconds: 3687 is needed, not 3686"},
		{"less grace", "terminationGracePeriodSeconds: 54", "terminationGracePeriodSeconds: 55 is needed, not 54: config.drain (30s)"},
		{"just the grace", "{config: {drain: 1h1m1.5s}, terminationGracePeriodSeconds: 3687}", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := renderWith(t, test.values)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestServiceMemory: the service may use all memory that its scans leave, except 124 MiB.
func TestServiceMemory(t *testing.T) {
	for values, want := range map[string]string{
		"":                                   "900MiB",
		"resources: {limits: {memory: 7Gi}}": "2948MiB",
		"config: {scan: {concurrency: 1}}":   "2948MiB",
		"config: {scan: {concurrency: 1, memory: 4096Mi}}": "900MiB",
	} {
		manifests, err := renderWith(t, values)
		if err != nil || !strings.Contains(manifests, "- name: GOMEMLIMIT\n          value: "+want+"\n") {
			t.Errorf("%s: GOMEMLIMIT is not %s: %v", values, want, err)
		}
	}
}
