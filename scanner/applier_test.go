package scanner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/config"
)

// TestAppliers: the configuration knows the appliers that there are.
func TestAppliers(t *testing.T) {
	if got, want := config.Appliers(), apply.Appliers(); !slices.Equal(got, want) {
		t.Errorf("configured %q, known %q", got, want)
	}
}

const rolling = `
-- app/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  strategy: {type: RollingUpdate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
`

// TestARefusalThatHangsOnTheApplier: the server keeps rollingUpdate under server-side apply and
// refuses the object; from kubectl replace it takes it. Where nobody says which tool applies it,
// neither is certain.
func TestARefusalThatHangsOnTheApplier(t *testing.T) {
	recreate := strings.Replace(rolling, "RollingUpdate", "Recreate", 1)
	otherSelector := strings.ReplaceAll(rolling, "app: web}", "app: shop}")
	const kept, immutable = "spec.strategy.rollingUpdate: Forbidden", "field is immutable"
	for _, test := range []struct {
		head     string
		by       apply.Applier
		denied   string
		unjudged string
	}{
		{recreate, apply.Flux, kept, ""},
		{recreate, apply.KubectlSSA, kept, ""},
		{recreate, apply.Replace, "", ""},
		{recreate, apply.Kubectl, "", ""},
		{recreate, "", "", kept},
		{otherSelector, apply.Flux, immutable, ""},
		{otherSelector, "", immutable, ""},
	} {
		in := input(rolling, test.head)
		in.Config.Applier = string(test.by)
		r := mustScan(t, in)
		var denied, unjudged []string
		for _, f := range r.Findings {
			denied = append(denied, f.Message)
		}
		for _, i := range r.Indeterminate {
			unjudged = append(unjudged, i.Why)
		}
		says := func(got []string, want string) bool {
			return want == "" && len(got) == 0 || want != "" && len(got) == 1 && slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) })
		}
		if !says(denied, test.denied) || !says(unjudged, test.unjudged) {
			t.Errorf("applier %q: denied %q, not judged %q; want %q and %q", test.by, denied, unjudged, test.denied, test.unjudged)
		}
	}
}
