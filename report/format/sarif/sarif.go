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
	// sarifSchema is where the schema of SARIF 2.1.0 with errata 01 is published.
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// informationURI is preadmit's home.
	informationURI = "https://preadmit.dev"
	// sarifCategory is the category of a run at GitHub: up to the last slash.
	sarifCategory = "preadmit/"
	// sarifLintCategory is that of lint: a run replaces only those of its category.
	sarifLintCategory = "preadmit-lint/"
	// sarifResults is the number of results GitHub keeps of a run.
	sarifResults = 5000
	// sarifNotifications bounds the list that no one pages through.
	sarifNotifications = 1000
	// sarifText bounds a message, in runes; the wire format has all of it.
	sarifText = 4000
)

// semver is a version as https://semver.org writes it.
var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// notSemver is what a semantic version does not consist of.
var notSemver = regexp.MustCompile(`[^0-9A-Za-z.-]+`)

// Write writes one run of SARIF 2.1.0 as GitHub code scanning reads it: a
// rule for each policy validation, a result for each finding the change has (a
// resolved one is absent), a notification for what was not judged.
func Write(w *bufio.Writer, r *report.Report) error {
	kept, cut := mostSevere(unresolved(r.Findings), sarifResults, outline.Weight)
	rules := newRules(kept)
	run := newRun(sarifCategory, r.Tool, rules.list, notifications(r, cut))
	for _, f := range kept {
		run.Results = append(run.Results, result(f, rules))
	}
	return encodeRun(w, run)
}

// newRun is a run without results.
func newRun(category string, t report.Tool, rules []*sarifRule, notes []sarifNotification) sarifRun {
	run := sarifRun{
		Tool: sarifTool{Driver: driver(t, rules)},
		// A report exists only when the scan came to its end; what failed on the way
		// is in notifications.
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
		v = "0.0.0-" + notSemver.ReplaceAllString(v, "-") // SARIF2005 wants a number first
	}
	if v != "" {
		d.Version, d.SemanticVersion = v, v
	}
	return d
}

// mostSevere returns at most n of a list, those of the least weight first, but in the
// list's order.
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

// unresolved are the findings that are results.
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

// partialFingerprints are our own, which other viewers may use, and the hash of the
// line: the only one that GitHub looks at, and that its uploader, but not its API,
// would add.
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

// resultText is the message and a sentence that names the policy and the object.
func resultText(f *report.Finding) string {
	text := sentence(plainText(f.Message)) + " " + sentence(plainText(outline.Verdict(f)))
	if more := f.Location.Message; more != "" {
		text += " " + sentence(plainText(strings.ToUpper(more[:1])+more[1:]))
	}
	return text
}

// notificationKinds describes the notifications there may be.
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

// notifications lists what the report comes to, which webhooks were not called, whether no policy was in force, what was
// not judged, remarks, and what was left out.
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

// remarkNotifications lists what was not judged, remarks, and what was left out.
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
