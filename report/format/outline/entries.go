package outline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
)

// SplitEntries returns the entries of a report, the worst first: fresh are those of the
// change, existing those that the base has too.
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

// Weight returns the sort key of a finding: the worst class first, and within a class new
// findings first.
func Weight(f *report.Finding) int {
	return ClassOf(f).rank()*len(report.Statuses()) + slices.Index(report.Statuses(), f.Status)
}

// rank returns the index in Classes, 0 for the worst class.
func (c Class) rank() int { return slices.Index(Classes(), c) }

// Entry is a finding with all requests that have it, so that a manifest that twelve
// overlays share is shown once. Also are the findings of the other requests.
type Entry struct {
	*report.Finding
	Also []*report.Finding
	// Elsewhere are entries with the same finding at other places, see Gather.
	Elsewhere []*Entry
}

// Count returns the number of findings of the entry.
func (e *Entry) Count() int {
	n := 1 + len(e.Also)
	for _, other := range e.Elsewhere {
		n += other.Count()
	}
	return n
}

// Gather merges entries that differ only in their objects or places.
func Gather(entries []*Entry) []*Entry {
	var out []*Entry
	first := map[entryKey]*Entry{}
	for _, e := range entries {
		k := keyOf(e.Finding)
		k.tree, k.path, k.field, k.startLine, k.startColumn = "", "", "", 0, 0
		if lead := first[k]; lead != nil && k.cause != report.CauseRender {
			lead.Elsewhere = append(lead.Elsewhere, e)
			continue
		}
		first[k], out = e, append(out, e)
	}
	return out
}

// Open returns the findings that count: new ones and, with existing, existing ones.
func Open(findings []report.Finding, existing bool) []report.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f report.Finding) bool {
		return f.Status == report.StatusResolved || f.Status == report.StatusExisting && !existing
	})
}

// entryKey has the values that are equal in all findings of an entry.
type entryKey struct {
	tree, path, message, policy, binding, field string
	kubernetes                                  string
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
		tree: f.Location.Tree, path: f.Location.Path, message: unnamed(f), policy: f.Policy,
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
	k.kubernetes = strings.Join(f.Kubernetes, " ")
	return k
}

// Entries merges the findings that are not resolved into entries, in the report's order.
func Entries(findings []report.Finding, onlyDenials bool) []*Entry {
	var out []*Entry
	entries := map[entryKey]*Entry{}
	for i := range findings {
		f := &findings[i]
		if f.Status == report.StatusResolved || onlyDenials && !ClassOf(f).Denies() {
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
