package format_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// denied returns a report of n new findings in as many files, every third of them a denial.
func denied(t *testing.T, n int) *report.Report {
	t.Helper()
	r := manyFindings(t, n)
	r.Indeterminate, r.Diagnostics = nil, nil
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Status = report.StatusNew
		f.Action = [...]report.Action{report.ActionAudit, report.ActionDeny, report.ActionWarn}[i%3]
		f.Message = fmt.Sprintf("remark %d of ```fences``` and <tags>", i)
		f.Location.Path = fmt.Sprintf("dir/file-%d.yaml", i)
	}
	return r
}

var leftOut = regexp.MustCompile(`(?m)^\*\*Left out for size:\*\* (\d+) findings`)

// TestMarkdownKeepsWithinALimit: for any size, the included findings are complete, the worst
// are included first, and the rest is counted.
func TestMarkdownKeepsWithinALimit(t *testing.T) {
	for _, n := range []int{1, 60, 6000, 30000} {
		for _, limit := range []int{0, 500, 5000, 65535} {
			t.Run(fmt.Sprintf("%d in %d", n, limit), func(t *testing.T) {
				began := time.Now()
				text := string(write(t, "markdown", denied(t, n), format.Options{Limit: limit}))
				if size := utf8.RuneCountInString(text); limit > 0 && size > limit {
					t.Fatalf("%d characters", size)
				}
				shown := strings.Count(text, "> ````remark ")
				left := 0
				if m := leftOut.FindStringSubmatch(text); m != nil {
					left, _ = strconv.Atoi(m[1])
				}
				if n > 1 && shown+left != n || limit == 0 && left > 0 {
					t.Errorf("%d shown and %d left out of %d", shown, left, n)
				}
				if n > shown && strings.Contains(text, "Warned by") && strings.Count(text, "Denied by") == 0 {
					t.Error("a warning has the place of a denial")
				}
				if opened, closed := strings.Count(text, "<details>"), strings.Count(text, "</details>"); opened != closed {
					t.Errorf("%d <details>, %d </details>", opened, closed)
				}
				t.Logf("%d characters, %d shown, %v", len(text), shown, time.Since(began))
			})
		}
	}
}

// TestMarkdownIsSteady: it has no durations, so that a comment is not edited when only they
// change.
func TestMarkdownIsSteady(t *testing.T) {
	r := read(t, "many")
	before := write(t, "markdown", r, zero)
	r.Summary.Durations = report.Durations{Total: 77, Render: 50}
	if diff := cmp.Diff(string(before), string(write(t, "markdown", r, zero))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestMarkdownLinksToTheHead(t *testing.T) {
	r := read(t, "many")
	text := string(write(t, "markdown", r, format.Options{Blob: "https://github.com/o/r/blob/abc/"}))
	for _, want := range []string{"**[`overlays/prod/replicas.yaml:7`](https://github.com/o/r/blob/abc/overlays/prod/replicas.yaml#L7)**", "**`db/pvc.yaml:1`**"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
}

// commands counts workflow commands by level.
func commands(text string) map[string]int {
	counts := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		if level, _, ok := strings.Cut(strings.TrimPrefix(line, "::"), " "); ok && strings.HasPrefix(line, "::") {
			counts[level]++
		}
	}
	return counts
}

// TestGitHubAnnotatesTheWorst: there are no more annotations than GitHub shows, and a notice
// on the rest.
func TestGitHubAnnotatesTheWorst(t *testing.T) {
	for n, want := range map[int]map[string]int{
		0:     {},
		3:     {"error": 1, "warning": 1, "notice": 1},
		30:    {"error": 10, "warning": 10, "notice": 10},
		60:    {"error": 10, "warning": 10, "notice": 10},
		30000: {"error": 10, "warning": 10, "notice": 10},
	} {
		text := string(write(t, "github", denied(t, n), zero))
		if diff := cmp.Diff(want, commands(text)); diff != "" {
			t.Errorf("%d findings (-want +got):\n%s", n, diff)
		}
		if n == 60 && !strings.Contains(text, "::notice title=preadmit::10 more errors, 10 more warnings, 11 more notices: ") {
			t.Errorf("it does not say how many are left out:\n%s", text)
		}
	}
}

// TestGitHubAnnotatesTheChangeFirst: files that the change touches come before others, and
// new findings before existing ones.
func TestGitHubAnnotatesTheChangeFirst(t *testing.T) {
	r := denied(t, 60)
	r.Findings[58].Status = report.StatusExisting
	text := string(write(t, "github", r, format.Options{Existing: true, Files: map[string]bool{"dir/file-58.yaml": true, "dir/file-55.yaml": true}}))
	var errors []string
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "::error ") {
			errors = append(errors, line[len("::error file=dir/"):strings.Index(line, ",")])
		}
	}
	want := []string{"file-55.yaml", "file-58.yaml", "file-1.yaml", "file-4.yaml"}
	if diff := cmp.Diff(want, errors[:4]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text := string(write(t, "github", r, zero)); strings.Contains(text, "file-58.yaml") {
		t.Errorf("what the base has too is annotated:\n%s", text)
	}
}

// junitShape has the elements that are written, with their content and their required and
// optional attributes, as in Jenkins' junit-10.xsd.
func junitShape() map[string]struct{ children, required, optional string } {
	return map[string]struct{ children, required, optional string }{
		"":           {"testsuites", "", ""},
		"testsuites": {"testsuite", "", "name time tests failures errors"},
		"testsuite":  {"testsuite properties testcase system-out system-err", "name tests failures errors", "group time skipped timestamp hostname id package file log url"},
		"testcase":   {"skipped error failure system-out system-err", "name", "time classname group"},
		"skipped":    {"", "", "type message"},
		"error":      {"", "", "type message"},
		"failure":    {"", "", "type message"},
		"system-out": {"", "", ""},
	}
}

func TestJUnitFitsTheSchema(t *testing.T) {
	for _, name := range reports(t) {
		for _, opts := range []format.Options{{}, {FailOn: "indeterminate", Existing: true}, {FailOn: "never"}} {
			checkJUnit(t, name, write(t, "junit", read(t, name), opts))
		}
	}
}

// checkJUnit checks a document against junitShape, and its counts against its elements.
func checkJUnit(t *testing.T, name string, doc []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(doc))
	counts, claimed, stack := map[string]int{}, map[string]int{}, []string{""}
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch e := token.(type) {
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.StartElement:
			element, shape := e.Name.Local, junitShape()
			if !slices.Contains(strings.Fields(shape[stack[len(stack)-1]].children), element) {
				t.Errorf("%s: <%s> inside of <%s>", name, element, stack[len(stack)-1])
			}
			stack = append(stack, element)
			counts[element]++
			missing := strings.Fields(shape[element].required)
			for _, a := range e.Attr {
				if !slices.Contains(strings.Fields(shape[element].required+" "+shape[element].optional), a.Name.Local) {
					t.Errorf("%s: <%s> has attribute %s", name, element, a.Name.Local)
				}
				missing = slices.DeleteFunc(missing, func(s string) bool { return s == a.Name.Local })
				if n, err := strconv.Atoi(a.Value); err == nil && element == "testsuite" {
					claimed[map[string]string{"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}[a.Name.Local]] += n
				}
			}
			if len(missing) > 0 {
				t.Errorf("%s: <%s> has no %q", name, element, missing)
			}
		}
	}
	for element, n := range claimed {
		if counts[element] != n {
			t.Errorf("%s: the attributes claim %d <%s>, there are %d", name, n, element, counts[element])
		}
	}
}

// TestJUnitFitsTheXSD needs xmllint and the file junit-10.xsd of Jenkins' xunit plugin,
// which is not in this repository.
func TestJUnitFitsTheXSD(t *testing.T) {
	xsd := os.Getenv("PREADMIT_JUNIT_XSD")
	lint, err := exec.LookPath("xmllint")
	if xsd == "" || err != nil {
		t.Skip("PREADMIT_JUNIT_XSD names no junit-10.xsd, or there is no xmllint; TestJUnitFitsTheSchema checks the same by a table")
	}
	for _, name := range reports(t) {
		file := filepath.Join(t.TempDir(), "report.xml")
		if err := os.WriteFile(file, write(t, "junit", read(t, name), zero), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(lint, "--noout", "--schema", xsd, file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestJUnitFailsWhatFailsTheRun: JUnit and the exit code agree on whether a run fails.
func TestJUnitFailsWhatFailsTheRun(t *testing.T) {
	for _, name := range reports(t) {
		r := read(t, name)
		for _, failOn := range report.FailOnValues() {
			for _, existing := range []bool{false, true} {
				text := string(write(t, "junit", r, format.Options{FailOn: failOn, Existing: existing}))
				fails := strings.Contains(text, "<failure") || strings.Contains(text, "<error")
				if want := r.Verdict(failOn, existing) != report.VerdictPassed; fails != want {
					t.Errorf("%s with fail-on %s, existing %v: failed is %v, want %v", name, failOn, existing, fails, want)
				}
			}
		}
	}
}

// TestMarkdownIsWholeAtEveryLimit: at any limit, everything that is opened is closed, and
// the text mentions that something is left out.
func TestMarkdownIsWholeAtEveryLimit(t *testing.T) {
	r := read(t, "many")
	all := utf8.RuneCount(write(t, "markdown", r, zero))
	for limit := 1000; limit <= all+10; limit += 13 {
		text := string(write(t, "markdown", r, format.Options{Limit: limit}))
		if size := utf8.RuneCountInString(text); size > limit {
			t.Fatalf("at %d it has %d characters", limit, size)
		}
		if strings.Count(text, "<details>") != strings.Count(text, "</details>") || strings.Count(text, "```")%2 != 0 {
			t.Fatalf("at %d something is open:\n%s", limit, text)
		}
		whole := utf8.RuneCountInString(text) == all
		if whole == strings.Contains(text, "**Left out for size:**") || !strings.Contains(text, "<sub>`preadmit v0.1.0") {
			t.Fatalf("at %d it does not say what is missing, or by whom it is:\n%s", limit, text)
		}
	}
}
