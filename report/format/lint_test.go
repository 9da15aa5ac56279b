package format_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

const (
	lintSchemaFile  = "../../docs/lint.schema.json"
	sarifSchemaFile = "testdata/schema/sarif-2.1.0.json"
)

func TestLintSchemaIsTheGoTypes(t *testing.T) {
	schemaIsType(t, lintSchemaFile, reflect.TypeFor[report.LintReport]())
}

// TestLint writes the reports of testdata/lint in every format and compares with
// the files beside them.
func TestLint(t *testing.T) {
	files, err := filepath.Glob("testdata/lint/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("reports %q, error %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			r := readLint(t, file)
			golden(t, file, writeLint(t, "json", r, zero))
			golden(t, name+".txt", writeLint(t, "text", r, zero))
			golden(t, name+".color.txt", writeLint(t, "text", r, format.Options{Color: true, Width: 100, Verbose: true}))
			golden(t, name+".quiet.txt", writeLint(t, "text", r, format.Options{Quiet: true}))
			sarif := writeLint(t, "sarif", r, zero)
			golden(t, name+".sarif", sarif)
			validate(t, compile(t, lintSchemaFile), writeLint(t, "json", r, zero))
			validate(t, compile(t, sarifSchemaFile), sarif)
		})
	}
}

func readLint(t *testing.T, file string) *report.LintReport {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &report.LintReport{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(r); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r
}

func writeLint(t *testing.T, name string, r *report.LintReport, opts format.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := format.WriteLint(&b, name, r, opts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLintMasksSecrets(t *testing.T) {
	r := readLint(t, "testdata/lint/mixed.json")
	r.Findings[0].Location.Snippet = []string{"kind: Secret", "stringData:", "  password: hunter2"}
	for _, format := range format.LintFormats() {
		if out := writeLint(t, format, r, zero); bytes.Contains(out, []byte("hunter2")) {
			t.Errorf("%s shows a secret:\n%s", format, out)
		}
	}
}

func TestLintKnowsTheFormatsOfScan(t *testing.T) {
	var b bytes.Buffer
	err := format.WriteLint(&b, "yaml", &report.LintReport{}, zero)
	if err == nil || !strings.Contains(err.Error(), strings.Join(format.LintFormats(), ", ")) {
		t.Errorf("error %v, want one with the formats", err)
	}
}

func TestLintSARIFHasItsOwnCategory(t *testing.T) {
	var log struct {
		Runs []struct {
			AutomationDetails struct{ ID string }
			Tool              struct {
				Driver struct{ Rules []struct{ ID string } }
			}
		}
	}
	out := writeLint(t, "sarif", readLint(t, "testdata/lint/mixed.json"), zero)
	if err := json.Unmarshal(out, &log); err != nil {
		t.Fatal(err)
	}
	// GitHub replaces all results of a category, so lint and scan need different ones.
	if got := log.Runs[0].AutomationDetails.ID; got != "preadmit-lint/" {
		t.Errorf("category %q", got)
	}
	var ids []string
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff(report.LintRuleIDs(), ids); diff != "" {
		t.Errorf("rules (-table +SARIF):\n%s", diff)
	}
}
