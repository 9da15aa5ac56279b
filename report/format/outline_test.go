package format_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/outline"
)

// TestHeadline checks the texts of the counts. Each finding and each indeterminate is
// counted once.
func TestHeadline(t *testing.T) {
	proposed := report.Finding{Status: report.StatusNew, Action: report.ActionDeny, Policies: report.PoliciesProposed}
	broken := report.Finding{Status: report.StatusNew, Action: report.ActionError, Cause: report.CauseRender}
	of := func(s report.Status, a report.Action) report.Finding { return report.Finding{Status: s, Action: a} }
	none := &report.NoPolicies{Why: "there is none"}
	for name, test := range map[string]struct {
		report   report.Report
		existing bool
		want     string
		worst    outline.Class
	}{
		"nothing": {want: "no findings"},
		"each": {
			report: report.Report{
				Findings: []report.Finding{
					of("new", "Deny"), of("new", "Deny"), of("new", "Deny"), proposed, broken, of("new", "Warn"), of("new", "Audit"),
					of("existing", "Deny"), of("existing", "Warn"), of("resolved", "Deny"),
				},
				Indeterminate: []report.Indeterminate{{}, {}, {Untouched: true}},
			},
			want:  "1 error, 3 denied, 1 would be denied if the proposed policies were in force, 1 warning, 1 audited, 2 not judged, 2 existing, 1 resolved",
			worst: outline.Error,
		},
		"existing ones count": {
			report: report.Report{
				Findings:      []report.Finding{of("new", "Deny"), of("existing", "Deny"), of("existing", "Warn")},
				Indeterminate: []report.Indeterminate{{Untouched: true}},
			},
			existing: true, want: "2 denied (1 existing), 1 warning (1 existing), 1 not judged", worst: outline.Denied,
		},
		"only existing ones": {report: report.Report{Findings: []report.Finding{of("existing", "Deny")}}, want: "no findings, 1 existing"},
		"no policies":        {report: report.Report{Summary: report.Summary{NoPolicies: none}}, want: "judged by no policy", worst: outline.Warning},
		"no policies, refused": {
			report: report.Report{Findings: []report.Finding{of("new", "Deny")}, Summary: report.Summary{NoPolicies: none}},
			want:   "judged by no policy, 1 denied", worst: outline.Denied,
		},
		"audited, not judged": {
			report: report.Report{Findings: []report.Finding{of("new", "Audit")}, Indeterminate: []report.Indeterminate{{}}},
			want:   "1 audited, 1 not judged", worst: outline.Warning,
		},
	} {
		c := outline.CountsOf(&test.report, test.existing)
		if got := c.Headline(); got != test.want || c.Worst() != test.worst {
			t.Errorf("%s: %q, worst %q; want %q, %q", name, got, c.Worst(), test.want, test.worst)
		}
	}
}

// TestFormatsSayTheSame: all formats have the same headline, and the sections of the page
// add up to it.
func TestFormatsSayTheSame(t *testing.T) {
	for _, name := range []string{"many", "change", "workload", "clean"} {
		r := read(t, name)
		want := outline.CountsOf(r, false).Headline()
		for _, f := range []string{"text", "markdown", "github", "html", "sarif", "junit"} {
			text := strings.Join(strings.Fields(string(write(t, f, r, zero))), " ")
			if !strings.Contains(strings.ToLower(text), want) {
				t.Errorf("%s as %s does not say %q", name, f, want)
			}
		}
		sections := map[string]int{}
		for _, m := range regexp.MustCompile(`<a href="#(\w+)">[^<]*<span[^>]*>([0-9]+)`).FindAllStringSubmatch(string(write(t, "html", r, zero)), -1) {
			sections[m[1]], _ = strconv.Atoi(m[2])
		}
		c := outline.CountsOf(r, false)
		findings := 0
		for _, n := range c.Classes {
			findings += n
		}
		for section, n := range map[string]int{"findings": findings, "indeterminate": c.NotJudged, "existing": c.Existing, "resolved": c.Resolved} {
			if sections[section] != n {
				t.Errorf("%s: the section %s of the page has %d, the headline %d", name, section, sections[section], n)
			}
		}
	}
}

func TestReasonsAreGrouped(t *testing.T) {
	kind := func(name string) *report.Object {
		return &report.Object{APIVersion: "example.com/v1", Kind: name, Name: strings.ToLower(name)}
	}
	list := []report.Indeterminate{
		{What: "root", Why: `remote base "https://example.com/a?ref=1" is not fetched: there is no network`},
		{What: "object", Object: kind("Widget"), Why: "no CustomResourceDefinition defines example.com/v1 Widget; add it"},
		{What: "object", Object: kind("Gadget"), Why: "no CustomResourceDefinition defines example.com/v1 Gadget; add it"},
		{What: "root", Why: `remote base "https://example.com/b?ref=1" is not fetched: there is no network`},
		{What: "object", Object: kind("Widget"), Why: "it is refused (Widget is invalid: spec: Required value)"},
		{What: "root", Why: "is a submodule"},
		{What: "object", Object: kind("Gizmo"), Why: "no CustomResourceDefinition defines example.com/v1 Gizmo; add it"},
	}
	var got []string
	for _, u := range outline.Reasons(list) {
		got = append(got, fmt.Sprintf("%d %s", u.Count(), u.Why))
	}
	want := []string{
		"3 no CustomResourceDefinition defines …; add it",
		"2 remote base … is not fetched",
		"1 it is refused (Widget is invalid: spec: Required value)",
		"1 is a submodule",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEqualFindingsAreOne: the same finding on several objects is one entry.
func TestEqualFindingsAreOne(t *testing.T) {
	r := read(t, "one")
	lead := r.Findings[0]
	for i := range 30 {
		f := lead
		f.Location.Path, f.Location.StartLine = fmt.Sprintf("apps/%d.yaml", i), i+1
		f.Object = &report.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: fmt.Sprintf("web-%d", i)}
		r.Findings = append(r.Findings, f)
	}
	text := string(write(t, "text", r, zero))
	if n := strings.Count(text, lead.Message[:30]); n != 1 {
		t.Errorf("the message is there %d times", n)
	}
	if n := strings.Count(text, "\n"); n > 30 || !strings.Contains(text, "and at 27 more places (-v lists them)") || !strings.Contains(text, "31 denied in") {
		t.Errorf("%d lines:\n%s", n, text)
	}
	long := string(write(t, "text", r, format.Options{Verbose: true, Width: 120}))
	for i := range 30 {
		if !strings.Contains(long, fmt.Sprintf("apps/%d.yaml:%d:", i, i+1)) {
			t.Errorf("verbose leaves out apps/%d.yaml", i)
		}
	}
	if text := string(write(t, "markdown", r, zero)); !strings.Contains(text, "and 20 more places") {
		t.Errorf("markdown:\n%s", text)
	}
}

func TestTotals(t *testing.T) {
	of := func(policy, namespace string, a report.Action) report.Finding {
		o := &report.Object{Kind: "Pod", Namespace: namespace, Name: "p"}
		return report.Finding{Status: report.StatusNew, Action: a, Cause: report.CauseValidation, Policy: policy, Object: o}
	}
	r := read(t, "clean")
	r.Findings = []report.Finding{
		of("a.example.com", "shop", "Deny"), of("a.example.com", "shop", "Deny"), of("a.example.com", "", "Warn"),
		of("b.example.com", "db", "Audit"), {Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseSchema, Object: &report.Object{Namespace: "db"}},
	}
	want := `By policy
  a.example.com            2 denied, 1 warning
  (the API server itself)  1 denied
  b.example.com            1 audited

By namespace
  db                1 denied, 1 audited
  shop              2 denied
  (cluster-scoped)  1 warning
`
	got := string(write(t, "text", r, format.Options{By: format.TotalsBy()}))
	if !strings.HasPrefix(got, want) {
		t.Errorf("want:\n%s\ngot:\n%s", want, got)
	}
}

func TestNoPoliciesDoNotLookGreen(t *testing.T) {
	r := read(t, "clean")
	r.Summary.NoPolicies = &report.NoPolicies{Why: "there is no ValidatingAdmissionPolicy; add one"}
	for f, want := range map[string]string{
		"text":     "Nothing was judged by policies: there is no ValidatingAdmissionPolicy; add one.",
		"markdown": "### :warning: preadmit: judged by no policy",
		"github":   "::warning title=No policies::Nothing was judged by policies: ",
		"html":     `<header class="top warn">`,
		"sarif":    "Nothing was judged by policies: ",
		"junit":    `type="no policies"`,
	} {
		if text := string(write(t, f, r, zero)); !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s does not say %q:\n%s", f, want, text)
		}
	}
}

func TestWebhooksAreNamed(t *testing.T) {
	r := read(t, "clean")
	hook := func(configuration, name string) report.Webhook {
		return report.Webhook{Kind: "ValidatingWebhookConfiguration", Configuration: configuration, Name: name}
	}
	if text := outline.Webhooks(r); text != "" {
		t.Errorf("without webhooks: %q", text)
	}
	r.Summary.Webhooks = []report.Webhook{hook("guard", "a")}
	if got, want := outline.Webhooks(r), "1 webhook with failurePolicy Fail matches requests and was not called: a of ValidatingWebhookConfiguration guard."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Summary.Webhooks = append(r.Summary.Webhooks, hook("guard", "b"), hook("other", "b"))
	const want = "3 webhooks with failurePolicy Fail match requests and were not called: a, b of ValidatingWebhookConfiguration guard, b of ValidatingWebhookConfiguration other."
	for _, f := range []string{"text", "markdown", "html", "sarif", "junit"} {
		if text := string(write(t, f, r, zero)); !strings.Contains(strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "&#8203;", ""), want) {
			t.Errorf("%s does not say %q:\n%s", f, want, text)
		}
	}
	if text := string(write(t, "json", r, zero)); !strings.Contains(strings.Join(strings.Fields(text), ""), `"webhooks":[{"kind":"ValidatingWebhookConfiguration","configuration":"guard","name":"a"}`) {
		t.Errorf("json does not name them:\n%s", text)
	}
	for i := range 12 {
		r.Summary.Webhooks = append(r.Summary.Webhooks, hook("many", fmt.Sprint(i)))
	}
	if got := outline.Webhooks(r); !strings.HasSuffix(got, "were not called: 2 of guard, 1 of other, 12 of many.") {
		t.Errorf("many: %q", got)
	}
}

// TestPlaces: the messages of an entry's locations are shown once for all its findings, in all formats for
// people.
func TestPlaces(t *testing.T) {
	at := func(name, message string) report.Finding {
		return report.Finding{
			Status: report.StatusNew, Action: report.ActionDeny, Message: "no", Operation: "CREATE", Object: &report.Object{Kind: "Pod", Name: name},
			Location: report.Location{Path: "web.yaml", StartLine: 3, Field: "spec", Message: message},
		}
	}
	r := &report.Report{Findings: []report.Finding{
		at("a", "it is made by chart web 1.0.0 templates/a.yaml:1"), at("b", "it is made by chart web 1.0.0 templates/b.yaml:2"),
		at("c", "it is made by chart web 1.0.0 templates/a.yaml:1"),
	}}
	entries := outline.Entries(r.Findings, false)
	if len(entries) != 1 {
		t.Fatalf("%d entries", len(entries))
	}
	if diff := cmp.Diff([]string{"it is made by chart web 1.0.0 templates/a.yaml:1", "it is made by chart web 1.0.0 templates/b.yaml:2"}, entries[0].Places(false)); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"text", "markdown", "html", "sarif"} {
		var out strings.Builder
		if err := format.Write(&out, name, r, format.Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"t is made by chart web 1.0.0 templates/a.yaml:1", "templates/b.yaml:2"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}
