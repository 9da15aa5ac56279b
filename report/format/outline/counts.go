package outline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Join is strings.Join without empty parts.
func Join(sep string, parts ...string) string {
	var out []string
	for _, s := range parts {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, sep)
}

// Count returns a text like "1 request" or "2 requests".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Counts has the counts of a report. Each finding and each indeterminate is counted once,
// apart from Repeated.
type Counts struct {
	// Classes counts new findings by class, and existing ones if they count.
	Classes map[Class]int
	// Repeated counts the findings of Classes that the base has too.
	Repeated map[Class]int
	// NotJudged counts the indeterminates that the change touches, or all if existing
	// findings count.
	NotJudged int
	// Existing counts findings that the base has too, and Untouched indeterminates that the
	// change does not touch, if these do not count.
	Existing, Untouched int
	Resolved            int
	// NoPolicies is set when no policy was in force.
	NoPolicies bool
}

// CountsOf returns the counts of a report. With existing, findings that the base has too and
// indeterminates that the change does not touch count as well.
func CountsOf(r *report.Report, existing bool) Counts {
	c := Counts{Classes: map[Class]int{}, Repeated: map[Class]int{}, NoPolicies: r.Summary.NoPolicies != nil}
	for i := range r.Findings {
		switch f := &r.Findings[i]; {
		case f.Status == report.StatusResolved:
			c.Resolved++
		case f.Status == report.StatusExisting && !existing:
			c.Existing++
		default:
			c.Classes[ClassOf(f)]++
			if f.Status == report.StatusExisting {
				c.Repeated[ClassOf(f)]++
			}
		}
	}
	for i := range r.Indeterminate {
		if r.Indeterminate[i].Untouched && !existing {
			c.Untouched++
		} else {
			c.NotJudged++
		}
	}
	return c
}

// Headline returns the counts as one line, like "3 denied, 1 would be denied if the
// proposed policies were in force, 2 warnings, 4 not judged, 119 existing". All formats
// use it.
func (c Counts) Headline() string {
	var parts []string
	for _, class := range Classes() {
		n := c.Classes[class]
		if n == 0 {
			continue
		}
		text := class.counted(n)
		if again := c.Repeated[class]; again > 0 {
			text += fmt.Sprintf(" (%d existing)", again)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 && !c.NoPolicies {
		parts = append(parts, "no findings")
	}
	for _, n := range []struct {
		n    int
		what string
	}{{c.NotJudged, "not judged"}, {c.Existing, "existing"}, {c.Resolved, "resolved"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if c.NoPolicies {
		parts = append([]string{"judged by no policy"}, parts...)
	}
	return strings.Join(parts, ", ")
}

// Worst returns the worst class that counts, "" if there is none. An indeterminate, and no
// policy in force, are as bad as a warning.
func (c Counts) Worst() Class {
	unknown := c.NotJudged > 0 || c.NoPolicies
	for _, class := range Classes() {
		switch {
		case c.Classes[class] > 0 && class != Audited:
			return class
		case class == Audited && unknown:
			return Warning
		case c.Classes[class] > 0:
			return class
		}
	}
	return ""
}

// Scope returns what was judged, like "12 roots, 57 requests, 3 policies, 4 bindings".
func Scope(s *report.Summary) string {
	parts := []string{
		RootsText(s.Roots), Count(s.Requests, "request"), Policies(s.Policies), Count(s.Bindings, "binding"),
	}
	if c := s.Coverage; c != nil && c.Exact < c.Objects {
		parts = append(parts, fmt.Sprintf("%d of %s judged exactly", c.Exact, Count(c.Objects, "object")))
	}
	if servers := Servers(s); servers != "" {
		parts = append(parts, servers)
	}
	return strings.Join(parts, ", ")
}

// Servers returns the imitated API servers, like "as Kubernetes v1.34.0"; "" for the default.
func Servers(s *report.Summary) string {
	var names []string
	for _, k := range s.Kubernetes {
		name := escape.Text(k.Version)
		if flags := strings.Trim(k.FeatureGates+","+k.RuntimeConfig, ","); flags != "" {
			name += " with " + escape.Text(flags)
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	return "as Kubernetes " + strings.Join(names, " and ")
}

// Summary returns the headline with the scope and the total time.
func Summary(r *report.Report, existing bool) string {
	return fmt.Sprintf("%s in %s, %s", CountsOf(r, existing).Headline(), Scope(&r.Summary), InSeconds(r.Summary.Durations.Total))
}

// NoPolicies returns a sentence with the reason why no policy was in force, "" if one was.
func NoPolicies(r *report.Report) string {
	if r.Summary.NoPolicies == nil {
		return ""
	}
	return "Nothing was judged by policies: " + escape.Line(r.Summary.NoPolicies.Why) + "."
}

// Webhooks returns a sentence on the webhooks with failurePolicy Fail, which were not called;
// "" if there are none. It names a few; if there are more, it counts them by configuration.
func Webhooks(r *report.Report) string {
	hooks := r.Summary.Webhooks
	if len(hooks) == 0 {
		return ""
	}
	const most = 4 // the maximum number of webhooks or configurations to name
	var parts []string
	rest := hooks
	for len(rest) > 0 && len(parts) < most {
		first := rest[0]
		end := slices.IndexFunc(rest, func(w report.Webhook) bool { return w.Kind != first.Kind || w.Configuration != first.Configuration })
		if end < 0 {
			end = len(rest)
		}
		var names []string
		for _, w := range rest[:end] {
			names = append(names, escape.Line(w.Name))
		}
		of := " of " + escape.Line(first.Kind) + " " + escape.Line(first.Configuration)
		if len(hooks) > most { // only the number, so that all fit in a line
			names, of = []string{strconv.Itoa(len(names))}, " of "+escape.Line(first.Configuration)
		}
		parts = append(parts, strings.Join(names, ", ")+of)
		rest = rest[end:]
	}
	if len(rest) > 0 {
		parts = append(parts, fmt.Sprintf("%d of others", len(rest)))
	}
	match := "match requests and were"
	if len(hooks) == 1 {
		match = "matches requests and was"
	}
	return fmt.Sprintf("%s with failurePolicy Fail %s not called: %s.", Count(len(hooks), "webhook"), match, strings.Join(parts, ", "))
}

// RootsText returns the number of roots, and in parentheses the numbers of those that were
// not rendered, by outcome.
func RootsText(c report.RootCounts) string {
	var not []string
	for _, n := range []struct {
		n    int
		what string
	}{{c.Untouched, "untouched"}, {c.Failed, "failed"}, {c.FailedBefore, "failed before"}, {c.Indeterminate, "not rendered"}} {
		if n.n > 0 {
			not = append(not, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	text := Count(c.Rendered+c.Untouched+c.Failed+c.FailedBefore+c.Indeterminate, "root")
	if len(not) > 0 {
		text += " (" + strings.Join(not, ", ") + ")"
	}
	return text
}

func Policies(n int) string {
	if n == 1 {
		return "1 policy"
	}
	return fmt.Sprintf("%d policies", n)
}

func InSeconds(s float64) string { return fmt.Sprintf("%.2fs", s) }
