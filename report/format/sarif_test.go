package format_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/preadmit/preadmit/report"
)

// sarif is the part of the format that these tests check.
type sarif struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Version, SemanticVersion string
				Rules                    []struct {
					ID, Name                          string
					ShortDescription, FullDescription struct{ Text string }
					Help                              struct{ Text string }
					DefaultConfiguration              struct{ Level string }
				}
			}
		}
		Invocations []struct {
			ToolExecutionNotifications []struct {
				Level   string
				Message struct{ Text string }
			}
		}
		Results []struct {
			RuleID    string
			RuleIndex int
			Level     string
			Message   struct{ Text string }
			Locations []struct {
				PhysicalLocation struct {
					ArtifactLocation struct{ URI string }
					Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
				}
			}
			PartialFingerprints map[string]string
		}
	}
}

func sarifOf(t testing.TB, r *report.Report) sarif {
	t.Helper()
	var s sarif
	if err := json.Unmarshal(write(t, "sarif", r, zero), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSARIFFitsTheSchema(t *testing.T) {
	schema := compile(t, sarifSchemaFile)
	for _, name := range reports(t) {
		t.Run(name, func(t *testing.T) { validate(t, schema, write(t, "sarif", read(t, name), zero)) })
	}
}

// TestSARIFIsWhatGitHubTakes checks the rules of code scanning that are not in the
// schema: https://docs.github.com/code-security/code-scanning (SARIF support).
func TestSARIFIsWhatGitHubTakes(t *testing.T) {
	for _, name := range reports(t) {
		t.Run(name, func(t *testing.T) {
			run := sarifOf(t, read(t, name)).Runs[0]
			for _, rule := range run.Tool.Driver.Rules {
				texts := []string{rule.ShortDescription.Text, rule.FullDescription.Text, rule.Name}
				for i, limit := range []int{1024, 1024, 255} {
					if n := utf8.RuneCountInString(texts[i]); n == 0 || n > limit {
						t.Errorf("rule %s: text %d has %d characters, want 1 to %d", rule.ID, i, n, limit)
					}
				}
				if rule.Help.Text == "" {
					t.Errorf("rule %s has no help", rule.ID)
				}
			}
			for i, res := range run.Results {
				if got := run.Tool.Driver.Rules[res.RuleIndex].ID; got != res.RuleID {
					t.Errorf("result %d: ruleIndex is of %q, want %q", i, got, res.RuleID)
				}
				if res.PartialFingerprints["preadmit/v1"] == "" {
					t.Errorf("result %d has no fingerprint", i)
				}
				phys := res.Locations[0].PhysicalLocation
				if u, err := url.Parse(phys.ArtifactLocation.URI); err != nil || u.IsAbs() || u.Path == "" || strings.HasPrefix(u.Path, "/") {
					t.Errorf("result %d: %q is not a relative path (%v)", i, phys.ArtifactLocation.URI, err)
				}
				if g := phys.Region; g.StartLine < 1 || g.StartColumn < 1 || g.EndLine < g.StartLine || g.EndLine == g.StartLine && g.EndColumn <= g.StartColumn {
					t.Errorf("result %d: region %+v", i, g)
				}
			}
		})
	}
}

func TestSARIFLeavesOutResolved(t *testing.T) {
	r := read(t, "many")
	want := 0
	for _, f := range r.Findings {
		if f.Status != report.StatusResolved {
			want++
		}
	}
	if got := len(sarifOf(t, r).Runs[0].Results); got != want || want == len(r.Findings) {
		t.Errorf("%d results of %d findings, want %d", got, len(r.Findings), want)
	}
}

func TestSARIFPathsSurvive(t *testing.T) {
	r := read(t, "one")
	for _, path := range []string{"a b/ü#?%.yaml", "c:d/e.yaml", "[x]/東京.yaml", "+&=;@!$'()*,.yaml"} {
		r.Findings[0].Location.Path = path
		uri := sarifOf(t, r).Runs[0].Results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI
		u, err := url.Parse(uri)
		if err != nil || u.Path != path || u.Scheme != "" || strings.ContainsAny(uri, " #?:") {
			t.Errorf("%q became %q (%v)", path, uri, err)
		}
	}
}

// TestSARIFRegionOfMaskedLine: a region does not end at the end of a mask, since the value may be shorter.
func TestSARIFRegionOfMaskedLine(t *testing.T) {
	r := read(t, "one")
	r.Findings[0].Location = report.Location{Path: "a.yaml", StartLine: 2, StartColumn: 11, Snippet: []string{"replicas: " + report.Mask}, SnippetLine: 2}
	region := sarifOf(t, r).Runs[0].Results[0].Locations[0].PhysicalLocation.Region
	if region.StartColumn != 11 || region.EndColumn != 12 {
		t.Errorf("the region is from column %d to %d, want 11 to 12", region.StartColumn, region.EndColumn)
	}
}

// TestSARIFKeepsTheMostSevere: the report has more results than GitHub keeps.
func TestSARIFKeepsTheMostSevere(t *testing.T) {
	r := manyFindings(t, 6000)
	for i := range r.Findings {
		r.Findings[i].Action = [...]report.Action{report.ActionAudit, report.ActionDeny, report.ActionWarn}[i%3]
		r.Findings[i].Status = report.StatusNew
	}
	run := sarifOf(t, r).Runs[0]
	levels := map[string]int{}
	for _, res := range run.Results {
		levels[res.Level]++
	}
	if got, want := fmt.Sprint(levels), "map[error:2000 note:1000 warning:2000]"; got != want {
		t.Errorf("levels are %s, want %s", got, want)
	}
	notes := run.Invocations[0].ToolExecutionNotifications
	if len(notes) < 2 || !strings.Contains(notes[1].Message.Text, "1000 less severe results left out") {
		t.Errorf("nothing is said of what was left out: %v", notes)
	}
	if a, b := run.Results[0].Message.Text, run.Results[1].Message.Text; !strings.Contains(a, "number 0 ") || !strings.Contains(b, "number 1 ") {
		t.Errorf("the report's order is lost: %q, %q", a, b)
	}
}

// TestSARIFMessagesHoldNoForeignLinks: viewers turn [text](target) in a message into a
// link, and a policy's message may quote text of an attacker.
func TestSARIFMessagesHoldNoForeignLinks(t *testing.T) {
	for _, res := range sarifOf(t, read(t, "hostile")).Runs[0].Results {
		if strings.Contains(res.Message.Text, "](http") {
			t.Errorf("a link: %q", res.Message.Text)
		}
	}
}

func compile(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, schema *jsonschema.Schema, doc []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(doc)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%#v", err)
	}
}

// TestSARIFCodeFlow: the chain of a field is a code flow that ends at the result's
// line, and the hash of the line is the fingerprint that GitHub uses.
func TestSARIFCodeFlow(t *testing.T) {
	var log struct {
		Runs []struct {
			Results []struct {
				PartialFingerprints map[string]string
				CodeFlows           []struct {
					ThreadFlows []struct {
						Locations []struct {
							Location struct {
								PhysicalLocation struct {
									ArtifactLocation struct{ URI string }
									Region           struct{ StartLine int }
								}
							}
						}
					}
				}
			}
		}
	}
	r := read(t, "chain")
	if err := json.Unmarshal(write(t, "sarif", r, zero), &log); err != nil {
		t.Fatal(err)
	}
	for i, res := range log.Runs[0].Results {
		l := r.Findings[i].Location
		if got := res.PartialFingerprints["primaryLocationLineHash"]; got != l.LineHash {
			t.Errorf("result %d: hash %q, want %q", i, got, l.LineHash)
		}
		var got, want []string
		for _, flow := range res.CodeFlows {
			for _, at := range flow.ThreadFlows[0].Locations {
				p := at.Location.PhysicalLocation
				path, err := url.PathUnescape(p.ArtifactLocation.URI)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%s:%d", path, p.Region.StartLine))
			}
		}
		for _, step := range l.Chain {
			want = append(want, fmt.Sprintf("%s:%d", step.Path, max(1, step.StartLine)))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("result %d: the flow is %q, want %q", i, got, want)
		}
	}
}

// A build without a version still has a number, as rule SARIF2005 requires.
func TestSARIFVersion(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "1.2.3", "devel": "0.0.0-devel", "(devel) x": "0.0.0--devel-x", "": ""} {
		r := &report.Report{Tool: report.Tool{Version: version}}
		if d := sarifOf(t, r).Runs[0].Tool.Driver; d.Version != want || d.SemanticVersion != want {
			t.Errorf("%q: version %q, semantic version %q, want %q", version, d.Version, d.SemanticVersion, want)
		}
	}
}
