package scanner_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/upgrade"
)

func TestUpgrade(t *testing.T) {
	web := &report.Object{APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "web"}
	refused := func(errs string) report.Finding {
		return report.Finding{
			Root: "shop", Operation: "CREATE", Object: web, Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseSchema,
			Message: `Service "web" is invalid: ` + errs,
		}
	}
	denied := refused("")
	denied.Cause, denied.Policy, denied.Message = report.CauseValidation, "ports", "no ports"
	created := denied
	created.Generated = &report.Object{APIVersion: "v1", Kind: "Pod", Name: "web-1"}
	failed := report.Finding{Root: "shop", Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseRender, Message: "does not render"}
	const one, two = "spec.ports: Required value", `spec.externalIPs[0]: Invalid value: "010.1.2.3": must not have leading 0s`
	for name, c := range map[string]struct {
		from, to []report.Finding
		gaps     []report.Indeterminate
		want     []string
	}{
		"the same":           {from: []report.Finding{denied}, to: []report.Finding{denied}, want: []string{"existing no ports"}},
		"new":                {to: []report.Finding{denied}, want: []string{"new no ports"}},
		"resolved":           {from: []report.Finding{denied, refused(one)}, want: []string{`resolved Service "web" is invalid: ` + one, "resolved no ports"}},
		"fewer errors":       {from: []report.Finding{refused("[" + one + ", " + two + "]")}, to: []report.Finding{refused(two)}, want: []string{`existing Service "web" is invalid: ` + two}},
		"more errors":        {from: []report.Finding{refused(one)}, to: []report.Finding{refused("[" + one + ", " + two + "]")}, want: []string{`new Service "web" is invalid: [` + one + ", " + two + "]"}},
		"another error":      {from: []report.Finding{refused(one)}, to: []report.Finding{refused(two)}, want: []string{`new Service "web" is invalid: ` + two}},
		"refused before":     {from: []report.Finding{denied, created}, to: []report.Finding{refused(one)}, want: []string{`new Service "web" is invalid: ` + one}},
		"does not render":    {from: []report.Finding{denied}, to: []report.Finding{failed}, want: []string{"new does not render"}},
		"not judged":         {from: []report.Finding{denied}, gaps: []report.Indeterminate{{What: "root", Root: "shop"}}},
		"policy not judged":  {from: []report.Finding{denied}, gaps: []report.Indeterminate{{What: "policy", Root: "shop", Object: web, Policy: "ports"}}},
		"another not judged": {from: []report.Finding{denied}, gaps: []report.Indeterminate{{What: "policy", Root: "shop", Object: web, Policy: "names"}}, want: []string{"resolved no ports"}},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := &scanner.Part{Report: &report.Report{Findings: c.from}}, &scanner.Part{Report: &report.Report{Findings: c.to, Indeterminate: c.gaps}}
			var got []string
			for _, f := range upgrade.Compare([]upgrade.Pair{{From: from, To: to}}).Findings {
				got = append(got, fmt.Sprintf("%s %s", f.Status, f.Message))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
