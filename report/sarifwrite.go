package report

import (
	"bufio"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/scanner"
)

const (
	// sarifSchema is where the schema of SARIF 2.1.0 with errata 01 is published.
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// informationURI is preadmit's home.
	informationURI = "https://preadmit.dev"
	// sarifCategory is the category of a run at GitHub: up to the last slash.
	sarifCategory = "preadmit/"
	// sarifResults is the number of results GitHub keeps of a run.
	sarifResults = 5000
	// sarifNotifications bounds the list that no one pages through.
	sarifNotifications = 1000
	// sarifText bounds a message, in runes; the wire format has all of it.
	sarifText = 4000
)

// semver is a version as https://semver.org writes it.
var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// writeSARIF writes one run of SARIF 2.1.0 as GitHub code scanning reads it: a
// rule for each policy validation, a result for each finding the change has (a
// resolved one is told by its absence), a notification for what was not judged.
func writeSARIF(w *bufio.Writer, r *scanner.Report, _ Options) error {
	kept, cut := mostSevere(r.Findings, sarifResults)
	rules := newRules(kept)
	notes := notifications(r, cut)
	run := sarifRun{
		Tool: sarifTool{Driver: driver(r.Tool, rules.list)},
		// A report exists only when the scan came to its end; what failed on the way
		// is told by notifications.
		Invocations:       []sarifInvocation{{ExecutionSuccessful: true, Notifications: notes}},
		AutomationDetails: sarifAutomation{ID: sarifCategory},
		ColumnKind:        "unicodeCodePoints",
		Results:           make([]sarifResult, 0, len(kept)),
	}
	if len(notes) > 0 {
		run.Tool.Driver.Notifications = notificationKinds()
	}
	for _, f := range kept {
		run.Results = append(run.Results, result(f, rules))
	}
	return encodeJSON(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func driver(t scanner.Tool, rules []*sarifRule) sarifDriver {
	d := sarifDriver{
		Name:           "preadmit",
		Version:        t.Version,
		InformationURI: informationURI,
		Rules:          rules,
	}
	if v := strings.TrimPrefix(t.Version, "v"); semver.MatchString(v) {
		d.Version, d.SemanticVersion = v, v
	}
	return d
}

// mostSevere gives the findings that are results, at most n of them: denials
// before warnings before audit notes, new before existing, then as reported. They
// keep the report's order.
func mostSevere(findings []scanner.Finding, n int) (kept []*scanner.Finding, cut int) {
	type ranked struct {
		*scanner.Finding
		place int
	}
	var all []ranked
	for i := range findings {
		if f := &findings[i]; f.Status != scanner.StatusResolved {
			all = append(all, ranked{f, i})
		}
	}
	if len(all) > n {
		slices.SortStableFunc(all, func(a, b ranked) int {
			return cmp.Or(cmp.Compare(strength(a.Action), strength(b.Action)),
				cmp.Compare(slices.Index(statuses(), a.Status), slices.Index(statuses(), b.Status)))
		})
		all, cut = all[:n], len(all)-n
		slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.place, b.place) })
	}
	for _, f := range all {
		kept = append(kept, f.Finding)
	}
	return kept, cut
}

// strength is 0 for the strongest action.
func strength(a scanner.Action) int { return slices.Index(actions(), a) }

func level(a scanner.Action) string {
	switch a {
	case scanner.ActionDeny:
		return "error"
	case scanner.ActionWarn:
		return "warning"
	}
	return "note"
}

func result(f *scanner.Finding, rules *rules) sarifResult {
	res := sarifResult{
		RuleID:           ruleID(f),
		RuleIndex:        rules.index[ruleID(f)],
		Level:            level(f.Action),
		Locations:        []sarifLocation{location(&f.Location, f.Root)},
		RelatedLocations: related(f),
		Properties: sarifResultProperties{
			Status: string(f.Status), Actions: []string{}, Cause: string(f.Cause),
			Policies: string(f.Policies), Binding: f.Binding, Operation: f.Operation,
			Object: objectName(f.Object), Root: f.Root, Field: f.Location.Field, Exact: f.Location.Exact,
		},
	}
	for _, a := range f.Actions {
		res.Properties.Actions = append(res.Properties.Actions, string(a))
	}
	if f.Fingerprint != "" {
		res.PartialFingerprints = map[string]string{"preadmit/v1": f.Fingerprint}
	}
	res.Message = sarifMessage{Text: resultText(f) + links(res.RelatedLocations)}
	return res
}

// resultText is the message and a sentence on who says so to what.
func resultText(f *scanner.Finding) string {
	return sentence(plainText(f.Message)) + " " + sentence(plainText(verdict(f)))
}

// verdict is like "Denied by policy p (binding b): UPDATE Deployment shop/web, root
// prod".
func verdict(f *scanner.Finding) string {
	words := map[scanner.Action]string{
		scanner.ActionDeny: "Denied", scanner.ActionWarn: "Warned", scanner.ActionAudit: "Noted for audit",
	}[f.Action]
	if f.Policies == scanner.PoliciesProposed {
		words += ", once the proposed policies are in force,"
	}
	by := "the API server"
	switch {
	case f.Cause == scanner.CauseRender:
		by = "preadmit, as the root does not render"
	case f.Policy != "" && f.Cause != scanner.CausePolicy:
		by = "policy " + f.Policy
		if f.Binding != "" {
			by += " (binding " + f.Binding + ")"
		}
	}
	return joinNonEmpty(": ", words+" by "+by, joinNonEmpty(", ", requestOf(f), generatedNote(f)))
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
	}
}

// notifications tells what was not judged, remarks, and what was left out.
func notifications(r *scanner.Report, cut int) []sarifNotification {
	list := make([]sarifNotification, 0, min(sarifNotifications, len(r.Indeterminate)+len(r.Diagnostics))+2)
	leftOut := func(n int, noun string) {
		if n > 0 {
			list = append(list, note(2, "warning", fmt.Sprintf("%s left out; the JSON report has all.", count(n, noun)), nil, ""))
		}
	}
	leftOut(cut, "less severe result")
	leftOut(len(r.Indeterminate)+len(r.Diagnostics)-sarifNotifications, "notification")
	budget := sarifNotifications
	for i := range r.Indeterminate[:min(budget, len(r.Indeterminate))] {
		n := &r.Indeterminate[i]
		about := joinNonEmpty(", ", objectName(n.Object), joinNonEmpty(" ", n.What, cmp.Or(n.Root, n.Policy)))
		list = append(list, note(0, "warning", "Not judged: "+about+": "+n.Why, n.Location, n.Root))
		budget--
	}
	for i := range r.Diagnostics[:min(budget, len(r.Diagnostics))] {
		d := &r.Diagnostics[i]
		list = append(list, note(1, d.Severity, d.Message, d.Location, d.Root))
	}
	return list
}

func note(kind int, level, text string, l *scanner.Location, root string) sarifNotification {
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
