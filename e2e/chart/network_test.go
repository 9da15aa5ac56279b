package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// rule has the fields of an egress rule of a NetworkPolicy that are checked here.
type rule struct {
	To    []any
	Ports []struct {
		Port     int
		Protocol string
	}
}

// egress returns the egress rules of the NetworkPolicy in manifests, one per line.
func egress(t *testing.T, manifests string) []string {
	t.Helper()
	for _, text := range strings.Split(manifests, "\n---\n") {
		var policy struct {
			Kind string
			Spec struct{ Egress []rule }
		}
		if err := yaml.Unmarshal([]byte(text), &policy); err != nil {
			t.Fatal(err)
		}
		if policy.Kind != "NetworkPolicy" {
			continue
		}
		var lines []string
		for _, r := range policy.Spec.Egress {
			to, err := yaml.Marshal(r.To)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Join(strings.Fields(string(to)), " ")+" at "+strings.Trim(fmt.Sprint(r.Ports), "[]"))
		}
		return lines
	}
	t.Fatal("there is no NetworkPolicy")
	return nil
}

// TestNameServers: the rule for DNS is the one that README.md gives for a cluster, and the
// usual one by default.
func TestNameServers(t *testing.T) {
	tests := []struct{ section, want string }{
		{"", "- namespaceSelector: matchLabels: kubernetes.io/metadata.name: kube-system at {53 UDP} {53 TCP}"},
		{"NodeLocal DNSCache", "- ipBlock: cidr: 169.254.20.10/32 - ipBlock: cidr: 10.96.0.10/32 at {53 UDP} {53 TCP}"},
		{"OpenShift", "- namespaceSelector: matchLabels: kubernetes.io/metadata.name: openshift-dns at {5353 UDP} {5353 TCP}"},
	}
	for _, test := range tests {
		t.Run(test.section, func(t *testing.T) {
			manifests, err := renderWith(t, example(t, test.section))
			if err != nil {
				t.Fatal(err)
			}
			rules := egress(t, manifests)
			if diff := cmp.Diff(test.want, rules[0]); diff != "" {
				t.Errorf("egress to name servers (-want +got):\n%s", diff)
			}
			if len(rules) != 2 || !strings.HasSuffix(rules[1], " at {443 }") {
				t.Errorf("other egress: %q", rules[1:])
			}
		})
	}
}

// example returns the values in the chart's README for a name, none for "".
func example(t *testing.T, name string) string {
	t.Helper()
	if name == "" {
		return ""
	}
	readme, err := os.ReadFile(filepath.Join(chartDir(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```yaml\n(# " + regexp.QuoteMeta(name) + "\n.*?)^```$").FindSubmatch(readme)
	if block == nil {
		t.Fatalf("README.md has no example that begins with # %s", name)
	}
	return string(block[1])
}
