package outline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Reason is a reason why something could not be judged, or the common part of several
// similar ones, with its places.
type Reason struct {
	// Why is the reason if it is the same at all places, else the common part.
	Why    string
	Places []*Unjudged
}

// Unjudged has the indeterminates of one place.
type Unjudged struct {
	items []*report.Indeterminate
}

// Touched returns the indeterminates that the change touches, and counts the others. In a
// repository with remote bases, the others are nearly all of them at every change.
func Touched(list []report.Indeterminate) (left []report.Indeterminate, untouched int) {
	for _, n := range list {
		if n.Untouched {
			untouched++
			continue
		}
		left = append(left, n)
	}
	return left, untouched
}

// Reasons groups indeterminates by the common part of their reasons and by place. The
// reasons with the most places come first, otherwise they are in the order of the report.
func Reasons(list []report.Indeterminate) []*Reason {
	type spot struct{ reason, place, object string }
	var order []*Reason
	reasons := map[string]*Reason{}
	places := map[spot]*Unjudged{}
	for i := range list {
		n := &list[i]
		common := commonReason(n)
		u := reasons[common]
		if u == nil {
			u = &Reason{Why: fullReason(n)}
			reasons[common], order = u, append(order, u)
		} else if u.Why != fullReason(n) {
			u.Why = common
		}
		at := spot{reason: common, object: ObjectName(n.Object)}
		if n.Location != nil {
			at.place = Place(n.Location)
		}
		pl := places[at]
		if pl == nil || at.place == "" {
			pl = &Unjudged{}
			places[at], u.Places = pl, append(u.Places, pl)
		}
		pl.items = append(pl.items, n)
	}
	slices.SortStableFunc(order, func(a, b *Reason) int { return b.Count() - a.Count() })
	return order
}

// NoBetterBefore leaves out the roots that did not render before the change either, if findings
// have the same error for other roots. before counts them by the place of the error.
func NoBetterBefore(list []report.Indeterminate, findings []report.Finding) (left []report.Indeterminate, before map[string]int) {
	reported := map[string]bool{}
	for i := range findings {
		if f := &findings[i]; f.Cause == report.CauseRender {
			reported[Place(&f.Location)+" "+f.Message] = true
		}
	}
	before = map[string]int{}
	for _, n := range list {
		_, message, ok := strings.Cut(n.Why, ": ")
		if ok && n.What == "root" && n.Location != nil && reported[Place(n.Location)+" "+message] {
			before[Place(n.Location)]++
			continue
		}
		left = append(left, n)
	}
	return left, before
}

// fullReason returns why something was not judged, with the policy if there is one.
func fullReason(n *report.Indeterminate) string {
	if n.Policy != "" && !strings.Contains(n.Why, n.Policy) {
		return "policy " + n.Policy + ": " + n.Why
	}
	return n.Why
}

// ellipsis replaces the parts that differ between reasons.
const ellipsis = "…"

// quoted matches quotations in a reason, which differ from place to place.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// absent matches reasons that a chart or a remote file is missing.
var absent = regexp.MustCompile(`^(chart|remote base|remote resource) .* (is not there: .*)$`)

// commonReason returns a reason without the details of one object or place: quotations, the
// object's names, and the text after a colon.
func commonReason(n *report.Indeterminate) string {
	if m := absent.FindStringSubmatch(n.Why); m != nil {
		return m[1] + " " + ellipsis + " " + m[2]
	}
	text := quoted.ReplaceAllLiteralString(n.Why, ellipsis)
	if rest, ok := strings.CutPrefix(text, "was "); ok { // at the base, which the place shows
		text = "is " + rest
	}
	words := []string{n.Policy}
	if o := n.Object; o != nil {
		words = append(words, o.APIVersion, o.Kind, o.Name, o.Namespace)
	}
	var out []string
	for _, word := range strings.Fields(text) {
		bare := strings.TrimRight(word, ",;:.")
		if bare != "" && slices.Contains(words, bare) {
			word = ellipsis + word[len(bare):]
		}
		if last := len(out) - 1; last >= 0 && out[last] == ellipsis && strings.HasPrefix(word, ellipsis) {
			out = out[:last]
		}
		out = append(out, word)
	}
	common, _, _ := strings.Cut(strings.Join(out, " "), ": ")
	if open := strings.LastIndex(common, " ("); open > strings.LastIndex(common, ")") {
		common = common[:open] // cut inside of parentheses
	}
	return common
}

func (u *Reason) Count() int {
	n := 0
	for _, pl := range u.Places {
		n += len(pl.items)
	}
	return n
}

// describesWhat reports whether a reason itself describes the thing that could not be judged.
func describesWhat(why string) bool {
	return strings.HasPrefix(why, "is ") || strings.HasPrefix(why, "was ") || strings.HasPrefix(why, "remote ")
}

// Text returns the place where something could not be judged, with what it is and its roots
// as far as the place does not show them.
func (pl *Unjudged) Text(verbose bool) string {
	first := pl.items[0]
	var at, what string
	if first.Location != nil {
		at = Place(first.Location)
	}
	switch {
	case first.Object != nil:
		what = ObjectName(first.Object)
	case first.What == "policy" && first.Policy != "":
		what = "policy " + escape.Text(first.Policy)
	case first.What != "root" && !describesWhat(first.Why):
		what = escape.Text(first.What)
	}
	var roots []string
	for _, n := range pl.items {
		if n.Root != "" && !slices.Contains(roots, escape.Text(n.Root)) {
			roots = append(roots, escape.Text(n.Root))
		}
	}
	return Join(": ", at, Join(", ", what, RootList(roots, first.Location, verbose)))
}

// Full returns Text, the place's own reason if u groups several, and kustomize's message.
func (pl *Unjudged) Full(u *Reason) []string {
	first := pl.items[0]
	lines := []string{pl.Text(true)}
	if full := fullReason(first); full != u.Why {
		lines = append(lines, full)
	}
	if first.Original != "" {
		lines = append(lines, "error of kustomize: "+first.Original)
	}
	return lines
}

// manyRoots is the maximum number of roots that are named; more are only counted.
const manyRoots = 3

// RootList names roots: a single one only if the path does not show it, many only if
// verbose.
func RootList(roots []string, at *report.Location, verbose bool) string {
	switch {
	case len(roots) == 0 || len(roots) == 1 && at != nil && inDirectory(at.Path, roots[0]):
		return ""
	case len(roots) == 1:
		return "root " + roots[0]
	case len(roots) > manyRoots && !verbose:
		return Count(len(roots), "root")
	}
	return "roots " + strings.Join(roots, ", ")
}

func inDirectory(path, dir string) bool {
	return dir == "." || escape.Text(path) == dir || strings.HasPrefix(escape.Text(path), dir+"/")
}
