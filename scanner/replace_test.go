package scanner_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report"
)

// TestARefusedPut checks a PUT of a Job, which is refused since it lacks fields that the server
// wrote. A PUT of the base would be refused too, but was never sent: the refusal is new.
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
			t.Errorf("want one finding, %s; got %q", test.want, reportLines(r))
		}
	}
}
