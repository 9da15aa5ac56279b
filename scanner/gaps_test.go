package scanner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
)

func TestScanWithoutRoots(t *testing.T) {
	wantSays(t, mustScan(t, input("", "-- README.md --\nnothing\n")), "warning : nothing to judge: no root was found")
	in := input("", "-- app/kustomization.yaml --\nresources: []\n-- prod/kustomization.yaml --\nresources: [../app]\n")
	in.Head.Under = []string{"app"}
	wantSays(t, mustScan(t, in), "warning : nothing to judge: no root was found; what is there is used by prod: scan that")
}

// TestGivenPoliciesThatDoNotRender: where the configuration takes policies from does not
// render, and is no root of the scan, which says so itself.
func TestGivenPoliciesThatDoNotRender(t *testing.T) {
	policies, _, _ := strings.Cut(gatedApp, "-- app/")
	broken := policies + "-- policies/k.yaml --\n" + twice
	in := input("", broken+cm("app/x.yaml", "x", "1"))
	in.Config.Roots, in.Config.Policies = []string{"app"}, []string{"policies"}
	found := false
	for _, i := range mustScan(t, in).Indeterminate {
		found = found || i.What == "policy" && i.Root == "policies" && strings.HasPrefix(i.Why, "the policies and context in policies do not render: ")
	}
	if !found {
		t.Error("nothing is said of policies that do not render")
	}
}

// TestWhatIsNotSimulatedIsNamed: webhooks that match a request, and of these the ones that fail.
func TestWhatIsNotSimulatedIsNamed(t *testing.T) {
	hooks := func(resource, operation, policy string) string {
		return `
-- hooks/w.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: inject}
webhooks:
- name: a.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "https://a.example.com"}
` + policy + `
  rules:
  - {apiGroups: ["*"], apiVersions: ["*"], operations: [` + operation + `], resources: [` + resource + `]}
`
	}
	const named = "note : verdicts do not include what these do to a request: MutatingWebhookConfiguration inject"
	for _, test := range []struct{ hooks, object, want string }{
		{hooks("configmaps", "CREATE", "  failurePolicy: Ignore"), cm("app/x.yaml", "x", "1"), named},
		{hooks("configmaps", "CREATE", "  failurePolicy: Fail"), cm("app/x.yaml", "x", "1"), named + " (failurePolicy Fail: a.example.com)"},
		{hooks("configmaps", "CREATE", ""), cm("app/x.yaml", "x", "1"), named + " (failurePolicy Fail: a.example.com)"},
		{hooks("configmaps", "UPDATE", ""), cm("app/x.yaml", "x", "1"), ""},
		{hooks("secrets", "'*'", ""), cm("app/x.yaml", "x", "1"), ""},
		{hooks("pods", "CREATE", ""), "\n-- app/x.yaml --\n" + rolling, named + " (failurePolicy Fail: a.example.com)"},
	} {
		base := test.hooks
		got := ""
		r := mustScan(t, input(base, base+test.object))
		var failing []report.Webhook
		if strings.Contains(test.want, "failurePolicy Fail") {
			failing = []report.Webhook{{Kind: "MutatingWebhookConfiguration", Configuration: "inject", Name: "a.example.com"}}
		}
		if diff := cmp.Diff(failing, r.Summary.Webhooks); diff != "" {
			t.Errorf("%s: webhooks of the summary (-want +got):\n%s", test.hooks, diff)
		}
		for _, said := range says(r) {
			if strings.Contains(said, "verdicts do not include") {
				got += said
			}
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.hooks, got, test.want)
		}
	}
}

// TestWarningsOfTheServer: what the server warns of, and what changes nothing, is a
// diagnostic of the root.
func TestWarningsOfTheServer(t *testing.T) {
	const service = `
-- app/s.yaml --
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {externalIPs: [192.0.2.1], ports: [{port: 80}]}
`
	r := mustScan(t, input("", service))
	if d := remarks(r); len(d) != 1 || d[0].Root != "app" || !strings.Contains(d[0].Message, "externalIPs is deprecated") {
		t.Errorf("diagnostics %+v", r.Diagnostics)
	}
}
