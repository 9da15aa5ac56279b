package sarif

import (
	"bufio"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/outline"
)

const (
	// sarifSchema is the URL of the schema of SARIF 2.1.0 with errata 01.
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// informationURI is preadmit's home page.
	informationURI = "https://preadmit.dev"
	// sarifCategory is GitHub's category of a run of scan, the part before the last slash.
	sarifCategory = "preadmit/"
	// sarifLintCategory is the category of lint. A run replaces only runs of its category.
	sarifLintCategory = "preadmit-lint/"
	// sarifResults is the number of results that GitHub keeps per run.
	sarifResults = 5000
	// sarifNotifications is the maximum number of notifications; nobody reads more.
	sarifNotifications = 1000
	// sarifText bounds a message, in runes; the wire format has the full text.
	sarifText = 4000
)

// semver matches a version of https://semver.org.
var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// notSemver matches characters that are not allowed in a semantic version.
var notSemver = regexp.MustCompile(`[^0-9A-Za-z.-]+`)

// Write writes one run of SARIF 2.1.0 as GitHub code scanning reads it: a rule for each
// validation of a policy, a result for each finding that is not resolved, a notification
// for each indeterminate.
func Write(w *bufio.Writer, r *report.Report) error {
	kept, cut := mostSevere(unresolved(r.Findings), sarifResults, outline.Weight)
	rules := newRules(kept)
	run := newRun(sarifCategory, r.Tool, rules.list, notifications(r, cut))
	for _, f := range kept {
		run.Results = append(run.Results, result(f, rules))
	}
	return encodeRun(w, run)
}

// newRun returns a run without results.
func newRun(category string, t report.Tool, rules []*sarifRule, notes []sarifNotification) sarifRun {
	run := sarifRun{
		Tool: sarifTool{Driver: driver(t, rules)},
		// A report exists only if the scan was completed; notifications have what failed.
		Invocations:       []sarifInvocation{{ExecutionSuccessful: true, Notifications: notes}},
		AutomationDetails: sarifAutomation{ID: category},
		ColumnKind:        "unicodeCodePoints",
		Results:           []sarifResult{},
	}
	if len(notes) > 0 {
		run.Tool.Driver.Notifications = notificationKinds()
	}
	return run
}

func encodeRun(w *bufio.Writer, run sarifRun) error {
	return escape.EncodeJSON(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func driver(t report.Tool, rules []*sarifRule) sarifDriver {
	d := sarifDriver{
		Name:           "preadmit",
		InformationURI: informationURI,
		Rules:          rules,
	}
	v := strings.TrimPrefix(t.Version, "v")
	if !semver.MatchString(v) && v != "" {
		v = "0.0.0-" + notSemver.ReplaceAllString(v, "-") // SARIF2005 requires a number first
	}
	if v != "" {
		d.Version, d.SemanticVersion = v, v
	}
	return d
}

// mostSevere returns the n elements of a list with the least weight, in the list's order.
func mostSevere[T any](list []T, n int, weight func(*T) int) (kept []*T, cut int) {
	order := make([]int, len(list))
	for i := range list {
		order[i] = i
	}
	if len(list) > n {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight(&list[a]), weight(&list[b])) })
		order, cut = order[:n], len(list)-n
		slices.Sort(order)
	}
	for _, i := range order {
		kept = append(kept, &list[i])
	}
	return kept, cut
}

// unresolved returns the findings that are not resolved.
func unresolved(findings []report.Finding) []report.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f report.Finding) bool { return f.Status == report.StatusResolved })
}

func result(f *report.Finding, rules *rules) sarifResult {
	res := sarifResult{
		RuleID:           ruleID(f),
		RuleIndex:        rules.index[ruleID(f)],
		Level:            outline.ClassOf(f).Level(),
		Locations:        []sarifLocation{location(&f.Location, f.Root)},
		RelatedLocations: related(f),
		CodeFlows:        flows(f),
		Properties:       propertiesOf(f),
	}
	res.PartialFingerprints = partialFingerprints("preadmit/v1", f.Fingerprint, f.Location.LineHash)
	res.Message = sarifMessage{Text: resultText(f) + links(res.RelatedLocations)}
	return res
}

// partialFingerprints returns preadmit's own fingerprint, for other viewers, and the hash of
// the line, which is the only one that GitHub uses. GitHub's upload action would add it, but
// its API does not.
func partialFingerprints(name, own, lineHash string) map[string]string {
	prints := map[string]string{}
	if own != "" {
		prints[name] = own
	}
	if lineHash != "" {
		prints["primaryLocationLineHash"] = lineHash
	}
	return prints
}

func propertiesOf(f *report.Finding) sarifResultProperties {
	p := sarifResultProperties{
		Status: string(f.Status), Actions: []string{}, Cause: string(f.Cause),
		Policies: string(f.Policies), Binding: f.Binding, Operation: f.Operation,
		Object: outline.ObjectName(f.Object), Root: f.Root, Field: f.Location.Field, Exact: f.Location.Exact,
	}
	for _, a := range f.Actions {
		p.Actions = append(p.Actions, string(a))
	}
	return p
}

// resultText returns the message and a sentence that names the policy and the object.
func resultText(f *report.Finding) string {
	text := sentence(plainText(f.Message)) + " " + sentence(plainText(outline.Verdict(f)))
	if more := f.Location.Message; more != "" {
		text += " " + sentence(plainText(strings.ToUpper(more[:1])+more[1:]))
	}
	return text
}

// notificationKinds returns the descriptors of all notifications.
func notificationKinds() []*sarifRule {
	describe := func(id, short, full string) *sarifRule {
		return &sarifRule{
			ID: id, Name: pascalCase(id), Help: &sarifMessage{Text: full},
			ShortDescription: sarifMessage{Text: short}, FullDescription: sarifMessage{Text: full},
		}
	}
	return []*sarifRule{
		describe("preadmit/indeterminate", "Could not be judged.", "What is named could not be judged, so it is not known to be allowed."),
		describe("preadmit/diagnostic", "A remark that is not a verdict.", "A remark on the repository that is not a verdict."),
		describe("preadmit/truncated", "Left out.", "The report has more than this file may hold."),
		describe("preadmit/summary", "What the scan comes to.", "The number of findings by what they are, and what was looked at."),
	}
}

// notifications returns the notifications on the counts, webhooks that were not called,
// missing policies, indeterminates, remarks, and what was left out.
func notifications(r *report.Report, cut int) []sarifNotification {
	list := remarkNotifications(r.Indeterminate, r.Diagnostics, cut)
	if none := outline.NoPolicies(r); none != "" {
		list = append([]sarifNotification{note(0, "warning", none, nil, "")}, list...)
	}
	if hooks := outline.Webhooks(r); hooks != "" {
		list = append([]sarifNotification{note(3, "note", hooks, nil, "")}, list...)
	}
	return append([]sarifNotification{note(3, "note", "preadmit: "+outline.CountsOf(r, false).Headline()+" in "+outline.Scope(&r.Summary), nil, "")}, list...)
}

// remarkNotifications returns the notifications on indeterminates, remarks, and what was
// left out.
func remarkNotifications(indeterminate []report.Indeterminate, diagnostics []report.Diagnostic, cut int) []sarifNotification {
	all := len(indeterminate) + len(diagnostics)
	list := make([]sarifNotification, 0, min(sarifNotifications, all)+2)
	leftOut := func(n int, noun string) {
		if n > 0 {
			list = append(list, note(2, "warning", fmt.Sprintf("%s left out; the JSON report has all.", outline.Count(n, noun)), nil, ""))
		}
	}
	leftOut(cut, "less severe result")
	leftOut(all-sarifNotifications, "notification")
	budget := sarifNotifications
	for i := range indeterminate[:min(budget, len(indeterminate))] {
		n := &indeterminate[i]
		about := outline.Join(", ", outline.ObjectName(n.Object), outline.Join(" ", n.What, cmp.Or(n.Root, n.Policy)))
		list = append(list, note(0, "warning", "Not judged: "+about+": "+n.Why, n.Location, n.Root))
		budget--
	}
	for i := range diagnostics[:min(budget, len(diagnostics))] {
		d := &diagnostics[i]
		list = append(list, note(1, d.Severity, d.Message, d.Location, d.Root))
	}
	return list
}

func note(kind int, level, text string, l *report.Location, root string) sarifNotification {
	n := sarifNotification{
		Descriptor: sarifReference{ID: notificationKinds()[kind].ID, Index: kind},
		Level:      level,
		Message:    sarifMessage{Text: sentence(plainText(text))},
	}
	if l != nil {
		n.Locations = []sarifLocation{location(l, root)}
	}
	return n
}
