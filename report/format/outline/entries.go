package outline

import (
	"cmp"
	"slices"

	"github.com/preadmit/preadmit/report"
)

// SplitEntries returns the entries of a report, the worst first: those of the change,
// and those that the base has too.
func SplitEntries(r *report.Report, onlyDenials bool) (fresh, existing []*Entry) {
	all := Entries(r.Findings, onlyDenials)
	slices.SortStableFunc(all, func(a, b *Entry) int { return cmp.Compare(Weight(a.Finding), Weight(b.Finding)) })
	for _, e := range all {
		if e.Status == report.StatusExisting && r.Change.Base != nil {
			existing = append(existing, e)
			continue
		}
		fresh = append(fresh, e)
	}
	return fresh, existing
}

// Weight puts denials before warnings before audit notes, and of each new ones first.
func Weight(f *report.Finding) int {
	return Strength(f.Action)*len(report.Statuses()) + slices.Index(report.Statuses(), f.Status)
}

// Strength is 0 for the strongest action.
func Strength(a report.Action) int { return slices.Index(report.Actions(), a) }

// Entry is one remark and all the requests it was made on: a manifest that twelve
// overlays share is shown once.
type Entry struct {
	*report.Finding
	Also []*report.Finding
}

// entryKey is what findings shown as one entry have in common.
type entryKey struct {
	tree, path, message, policy, binding, field string
	generated                                   string
	status                                      report.Status
	action                                      report.Action
	cause                                       report.Cause
	policies                                    report.PolicySet
	startLine, startColumn, validation          int
	param                                       report.ParamRef
}

func keyOf(f *report.Finding) entryKey {
	k := entryKey{
		tree: f.Location.Tree, path: f.Location.Path, message: f.Message, policy: f.Policy,
		binding: f.Binding, field: f.Location.Field, status: f.Status, action: f.Action,
		cause: f.Cause, policies: f.Policies, startLine: f.Location.StartLine,
		startColumn: f.Location.StartColumn, validation: -1,
	}
	if f.Validation != nil {
		k.validation = *f.Validation
	}
	if f.Param != nil {
		k.param = *f.Param
	}
	if f.Generated != nil {
		k.generated = f.Generated.Kind
	}
	return k
}

// Entries merges the findings to be shown in full, in the report's order.
func Entries(findings []report.Finding, onlyDenials bool) []*Entry {
	var out []*Entry
	entries := map[entryKey]*Entry{}
	for i := range findings {
		f := &findings[i]
		if f.Status == report.StatusResolved || onlyDenials && f.Action != report.ActionDeny {
			continue
		}
		key := keyOf(f)
		if e := entries[key]; e != nil {
			e.Also = append(e.Also, f)
			continue
		}
		entries[key] = &Entry{Finding: f}
		out = append(out, entries[key])
	}
	return out
}
