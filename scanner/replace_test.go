package scanner_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
)

// TestARefusedPut: a PUT of a Job lacks what the server has written to it, so it is refused, and a
// PUT of the base would be too. Nobody sent that one: the refusal is new.
func TestARefusedPut(t *testing.T) {
	const job = `
-- app/job.yaml --
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop, labels: {a: "1"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: a, IMAGE: x}]}}}
`
	valid := strings.Replace(job, ", IMAGE: x", "", 1)
	invalid := strings.Replace(job, "IMAGE: x", "imagePullPolicy: Sometimes", 1)
	for _, test := range []struct {
		base string
		want report.Status
	}{
		{valid, report.StatusNew}, {invalid, report.StatusExisting},
	} {
		in := input(test.base, strings.Replace(test.base, `"1"`, `"2"`, 1))
		in.Config.Applier = "replace"
		r := mustScan(t, in)
		if len(r.Findings) != 1 || r.Findings[0].Status != test.want {
			t.Errorf("want one finding, %s; got %q", test.want, says(r))
		}
	}
}
