package scanner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/apply"
)

// quotaOf returns a ResourceQuota with a limit, and with a status if something is used.
func quotaOf(hard, used string) string {
	text := "\n---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}, spec: {hard: " + hard + "}"
	if used != "" {
		text += ", status: {hard: " + hard + ", used: " + used + "}"
	}
	return text + "}\n"
}

const namespaceShop = "-- app/all.yaml --\n{apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"

func podOf(resources string) string {
	return "---\n{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {containers: [{name: c, image: a, resources: {" + resources + "}}]}}\n"
}

// TestQuotas checks that verdicts which do not depend on the usage are certain, including those for
// objects that exceed an empty quota. If the usage decides, only the status makes them certain.
func TestQuotas(t *testing.T) {
	const cpu = "{limits.cpu: '2'}"
	claim := "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p, namespace: shop}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}}\n"
	for name, test := range map[string]struct{ quota, object, denied, unjudged string }{
		"limits are asked for": {quotaOf(cpu, ""), podOf(""), "failed quota: q: must specify limits.cpu for: c", ""},
		"usage is not known":   {quotaOf(cpu, ""), podOf("limits: {cpu: 1}"), "", "used: unknown, limited: limits.cpu=2"},
		"more than all of it":  {quotaOf(cpu, ""), podOf("limits: {cpu: 3}"), "exceeded quota: q, requested: limits.cpu=3, used: unknown, limited: limits.cpu=2", ""},
		"room is left":         {quotaOf(cpu, "{limits.cpu: '1'}"), podOf("limits: {cpu: 1}"), "", ""},
		"no room is left":      {quotaOf(cpu, "{limits.cpu: 1500m}"), podOf("limits: {cpu: 1}"), "requested: limits.cpu=1, used: limits.cpu=1500m, limited: limits.cpu=2", ""},
		"of other resources":   {quotaOf(cpu, ""), claim, "", ""},
		"storage":              {quotaOf("{requests.storage: 1Gi}", ""), claim, "exceeded quota: q, requested: requests.storage=5Gi, used: unknown", ""},
		"a workload without limits": {quotaOf(cpu, ""), rolling,
			"failed quota: q: must specify limits.cpu for: web", ""},
		"a workload that may find room": {quotaOf(cpu, ""), strings.Replace(rolling, "web:1}", "web:1, resources: {limits: {cpu: 1}}}", 1), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustScan(t, input(namespaceShop+test.quota, namespaceShop+test.quota+test.object))
			var denied, unjudged []string
			for _, f := range r.Findings {
				denied = append(denied, f.Message)
			}
			for _, i := range r.Indeterminate {
				unjudged = append(unjudged, i.Why)
			}
			check := func(what string, got []string, want string) {
				t.Helper()
				if all := strings.Join(got, "\n"); want == "" && all != "" || !strings.Contains(all, want) {
					t.Errorf("%s: got %q, want %q", what, all, want)
				}
			}
			check("denied", denied, test.denied)
			check("not judged", unjudged, test.unjudged)
		})
	}
}

// TestNodePortRange checks that a port out of the range is refused, unless the Service already has
// it.
func TestNodePortRange(t *testing.T) {
	service := func(port int, label string) string {
		return fmt.Sprintf("-- app/s.yaml --\n{apiVersion: v1, kind: Service, metadata: {name: s, labels: {a: %s}}, spec: {type: NodePort, ports: [{port: 80, nodePort: %d}]}}\n", label, port)
	}
	for _, test := range []struct {
		base, head, ports, denied string
	}{
		{"", service(80, "a"), "", "provided port is not in the valid range. The range of valid ports is 30000-32767"},
		{"", service(80, "a"), "80-90", ""},
		{"", service(30001, "a"), "80-90", "The range of valid ports is 80-90"},
		{service(80, "a"), service(80, "b"), "", ""},
		{service(30001, "a"), service(80, "a"), "", "not in the valid range"},
	} {
		in := input(test.base, test.head)
		in.Config.ServiceNodePortRange = test.ports
		var denied []string
		for _, f := range mustScan(t, in).Findings {
			denied = append(denied, f.Message)
		}
		if all := strings.Join(denied, "\n"); test.denied == "" && all != "" || !strings.Contains(all, test.denied) {
			t.Errorf("%s to %s: denied %q, want %q", test.base, test.head, all, test.denied)
		}
	}
}

// TestNodePortsAssigned checks that a Service with node ports gets more for further ports.
func TestNodePortsAssigned(t *testing.T) {
	service := func(kind, ports string) string {
		return fmt.Sprintf("-- app/s.yaml --\n{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: %s, ports: [%s]}}\n", kind, ports)
	}
	const one, three = "{name: a, port: 80}", "{name: a, port: 80}, {name: b, port: 81}, {name: c, port: 82}"
	for _, test := range []struct {
		base, head string
		ports      string
		denied     string
	}{
		{base: service("LoadBalancer", one), head: service("LoadBalancer", three)},
		{base: service("NodePort", one), head: service("NodePort", three)},
		{base: service("ClusterIP", one), head: service("NodePort", three)},
		{base: service("NodePort", three), head: service("NodePort", one)},
		{base: service("NodePort", one), head: service("NodePort", "{name: a, port: 80}, {name: b, port: 81, nodePort: 30000}")},
		{base: service("NodePort", "{name: a, port: 80, nodePort: 30000}"), head: service("NodePort", "{name: a, port: 80, nodePort: 30000}, {name: b, port: 81}")},
		{base: service("NodePort", one), head: service("NodePort", three), ports: "80-81", denied: "failed to allocate a nodePort"},
		{base: service("NodePort", one), head: service("NodePort", "{name: a, port: 80, nodePort: 30000}, {name: b, port: 81, nodePort: 30000}"), denied: "duplicate nodePort"},
	} {
		for _, applier := range []apply.Applier{apply.Flux, apply.ArgoCD, apply.Replace} {
			in := input(test.base, test.head)
			in.Config.Applier = string(applier)
			in.Config.ServiceNodePortRange = test.ports
			var denied []string
			for _, f := range mustScan(t, in).Findings {
				denied = append(denied, f.Message)
			}
			if all := strings.Join(denied, "\n"); test.denied == "" && all != "" || !strings.Contains(all, test.denied) {
				t.Errorf("%s: %s to %s: denied %q, want %q", applier, test.base, test.head, all, test.denied)
			}
		}
	}
}
