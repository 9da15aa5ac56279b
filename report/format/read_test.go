package format_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/report"
)

// TestRoundTrip: a report that is written as JSON and read again is the same, except for
// masked values of Secrets.
func TestRoundTrip(t *testing.T) {
	for _, name := range reports(t) {
		first := write(t, "json", read(t, name), zero)
		again, err := report.Read(reader(first))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(string(first), string(write(t, "json", again, zero))); diff != "" {
			t.Errorf("%s differs when read and written again:\n%s", name, diff)
		}
		if name != "secret" {
			if diff := cmp.Diff(read(t, name), again); diff != "" {
				t.Errorf("%s is not what it was (-want +got):\n%s", name, diff)
			}
		}
	}
}

func TestJSONOfNothing(t *testing.T) {
	r := &report.Report{APIVersion: report.APIVersion, Kind: report.Kind, Findings: []report.Finding{{
		Status: report.StatusNew, Action: report.ActionDeny, Cause: report.CauseRender,
	}}}
	got := string(write(t, "json", r, zero))
	for _, want := range []string{`"actions": []`, `"indeterminate": []`, `"diagnostics": []`, `"findings": {}`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in:\n%s", want, got)
		}
	}
	if !strings.HasSuffix(got, "}\n") {
		t.Error("no newline at the end")
	}
	if r.Findings[0].Actions != nil {
		t.Error("the report was modified")
	}
}

func TestReadIsStrict(t *testing.T) {
	good := string(write(t, "json", read(t, "one"), zero))
	if _, err := report.Read(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"other version", "preadmit.dev/v1alpha1", "preadmit.dev/v2", `"ScanReport" of "preadmit.dev/v2"`},
		{"other kind", `"kind": "ScanReport"`, `"kind": "ScanConfig"`, `"ScanConfig" of`},
		{"unknown field", `"status": "new"`, `"status": "new", "colour": 1`, `unknown field "findings[0].colour"`},
		{"duplicate field", `"status": "new"`, `"status": "new", "status": "existing"`, `duplicate field "findings[0].status"`},
		{"other case", `"status": "new"`, `"Status": "new"`, `unknown field "findings[0].Status"`},
		{"unknown status", `"status": "new"`, `"status": "old"`, `findings[0].status: "old" is none of ["new" "existing" "resolved"]`},
		{"unknown action", `"action": "Deny"`, `"action": "deny"`, `findings[0].action: "deny" is none of ["Error" "Deny" "Warn" "Audit"]`},
		{"unknown actions", `"Audit"`, `"Log"`, `findings[0].actions[1]: "Log"`},
		{"unknown cause", `"cause": "validation"`, `"cause": ""`, `findings[0].cause: ""`},
		{"unknown policies", `"policies": "inForce"`, `"policies": "all"`, `findings[0].policies: "all"`},
		{"negative line", `"startLine": 7`, `"startLine": -7`, `findings[0].location.path "overlays/prod/replicas.yaml": line or column -7`},
		{"negative related line", `"startLine": 11`, `"startLine": -1`, `findings[0].location.related[0].path`},
		{"negative validation", `"validation": 0`, `"validation": -1`, `findings[0].validation: -1 is negative`},
		{"wrong type", `"requests": 3`, `"requests": "3"`, `cannot unmarshal`},
		{"something after", "\n}\n", "\n}\n{}", `invalid character '{' after top-level value`},
		{"cut", "\n}\n", "", `unexpected end of JSON input`},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := strings.Replace(good, c.old, c.new, 1)
			if strings.HasPrefix(c.old, "\n") {
				doc = strings.TrimSuffix(good, c.old) + c.new
			}
			if doc == good {
				t.Fatalf("the report has no %s", c.old)
			}
			_, err := report.Read(strings.NewReader(doc))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "read report: ") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestOpenReadsBothKinds: reports of scan and lint are read as strictly as by Read.
func TestOpenReadsBothKinds(t *testing.T) {
	saved, err := report.Open(reader(write(t, "json", read(t, "many"), zero)))
	if err != nil || saved.Scan == nil || saved.Lint != nil {
		t.Fatalf("%+v, %v", saved, err)
	}
	if diff := cmp.Diff(read(t, "many"), saved.Scan); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	mixed := readLint(t, "testdata/lint/mixed.json")
	good := writeLint(t, "json", mixed, zero)
	if saved, err = report.Open(reader(good)); err != nil || saved.Lint == nil {
		t.Fatalf("%+v, %v", saved, err)
	}
	if diff := cmp.Diff(mixed, saved.Lint); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"severity": "error"`, `"severity": "bad"`, `severity: "bad" is none of`},
		{`"rule": "`, `"rule": "no-`, `is none of`},
		{`"rule": "`, `"colour": 1, "rule": "`, `unknown field "findings[0].colour"`},
	} {
		doc := strings.Replace(string(good), c.old, c.new, 1)
		if _, err := report.Open(strings.NewReader(doc)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %s: got %v, want %s", c.new, err, c.want)
		}
	}
}

// endless is a reader of endless JSON.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func TestOpenIsBounded(t *testing.T) {
	testall.Long(t)
	e := &endless{}
	_, err := report.Open(e)
	if err == nil || !strings.Contains(err.Error(), "it has more than 256 MiB") || e.read > 2*report.MaxSaved {
		t.Errorf("read %d bytes: %v", e.read, err)
	}
}

// TestOpenHostile: a report that nests too deep or names lines beyond any file is an error.
func TestOpenHostile(t *testing.T) {
	deep := `{"apiVersion": "preadmit.dev/v1alpha1", "kind": "ScanReport", "findings": ` + strings.Repeat("[", 1<<20)
	if _, err := report.Open(strings.NewReader(deep)); err == nil {
		t.Error("a document as deep as that was read")
	}
	far := strings.Replace(string(write(t, "json", read(t, "one"), zero)), `"endColumn": 15`, `"endColumn": 9223372036854775807`, 1)
	if _, err := report.Open(strings.NewReader(far)); err == nil || !strings.Contains(err.Error(), "beyond any file") {
		t.Errorf("got %v", err)
	}
}
