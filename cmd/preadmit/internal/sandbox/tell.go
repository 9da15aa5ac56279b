package sandbox

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner"
)

// mostNamed is the maximum number of names in a line.
const mostNamed = 10

// Write writes what was loaded, and the refused objects with their lines from a scan. If quiet, it
// writes only what was refused and what does not render.
func (l *Loaded) Write(w io.Writer, from *scanner.Deployment, quiet bool) {
	writeBroken(w, from)
	writeUnserved(w, l)
	refused := l.Refused()
	for _, r := range refused {
		_, _ = fmt.Fprintf(w, "%s\n", escape.Line(placeOf(r, from.Report)+r.Key.String()+": "+r.Why()))
	}
	if quiet {
		return
	}
	again := l.Again()
	_, _ = fmt.Fprintf(w, "preadmit: loaded %s of %s", cli.Count(len(l.Results)-len(refused)-again, "object", "objects"), cli.Count(l.Roots(), "root", "roots"))
	if len(refused) > 0 {
		_, _ = fmt.Fprintf(w, "; %s above not", cli.Count(len(refused), "object", "objects"))
	}
	_, _ = fmt.Fprintln(w)
	if again > 0 {
		_, _ = fmt.Fprintf(w, "preadmit: left out %s that several roots define, but for the first: --target or --roots choose\n", cli.Count(again, "object", "objects"))
	}
	writeMade(w, l.Namespaces, l.Admins)
}

// writeUnserved writes the definitions whose kinds are not served.
func writeUnserved(w io.Writer, l *Loaded) {
	for _, definition := range l.Unserved {
		_, _ = fmt.Fprintf(w, "%s\n", escape.Line("CustomResourceDefinition "+definition+" is not served"))
	}
}

// writeMade writes the Namespaces and cluster-admins that were created.
func writeMade(w io.Writer, namespaces, admins []string) {
	if n := len(namespaces); n > 0 {
		_, _ = fmt.Fprintf(w, "preadmit: made %s that nothing loaded defines: %s\n", cli.Count(n, "Namespace", "Namespaces"), named(namespaces))
	}
	if n := len(admins); n > 0 {
		_, _ = fmt.Fprintf(w, "preadmit: bound cluster-admin to %s without the rights to apply the objects: %s\n", cli.Count(n, "user", "users"), named(admins))
	}
}

// Broken reports whether a judged root does not render, or only partly, so that its objects are not
// all known.
func Broken(from *scanner.Deployment) bool {
	return slices.ContainsFunc(from.Unrendered, func(u scanner.Unrendered) bool { return u.Judged })
}

// writeBroken writes the roots that do not render, or only partly.
func writeBroken(w io.Writer, from *scanner.Deployment) {
	none, partly := map[string]bool{}, map[string]bool{}
	for _, u := range from.Unrendered {
		_, _ = fmt.Fprintf(w, "%s\n", escape.Line(fmt.Sprintf("%s: %s", placeIn(u.Location), u.Why)))
		if u.Partly {
			partly[u.Root] = true
		} else {
			none[u.Root] = true
		}
	}
	if n := len(none); n > 0 {
		_, _ = fmt.Fprintf(w, "preadmit: %s not render, and nothing of them is loaded\n", cli.Count(n, "root does", "roots do"))
	}
	if n := len(partly); n > 0 {
		_, _ = fmt.Fprintf(w, "preadmit: of %s only what renders is loaded\n", cli.Count(n, "root", "roots"))
	}
}

// placeIn returns path:line, or only the path of a file or directory if the line is not known.
func placeIn(l report.Location) string {
	if l.StartLine == 0 {
		return l.Path
	}
	return fmt.Sprintf("%s:%d", l.Path, l.StartLine)
}

func named(names []string) string {
	var shown []string
	for _, name := range names[:min(len(names), mostNamed)] {
		shown = append(shown, escape.Line(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// placeOf returns the place of a scan's finding about an object, preferably of one with the server's
// message; without a finding, the object's root.
func placeOf(r *Result, from *report.Report) string {
	place := ""
	for _, f := range from.Findings {
		if f.Generated != nil || f.Object == nil || f.Object.Kind != r.Key.Kind || f.Object.Namespace != r.Key.Namespace ||
			f.Object.Name != r.Object.Name() || f.Location.Path == "" {
			continue
		}
		if says := f.Message != "" && strings.Contains(r.Why(), f.Message); place == "" || says {
			place = fmt.Sprintf("%s:%d: ", f.Location.Path, f.Location.StartLine)
			if says {
				return place
			}
		}
	}
	if place == "" && r.Root != "" && r.Root != "." {
		return r.Root + ": "
	}
	return place
}

// Write writes the differences.
func (v *Verified) Write(w io.Writer, from *report.Report) {
	for _, d := range v.Differences {
		_, _ = fmt.Fprintf(w, "%s\n  server: %s\n  scan:   %s\n", escape.Line(placeOf(d.Result, from)+d.Key.String()), escape.Line(d.Server), escape.Line(d.Scan))
	}
	_, _ = fmt.Fprintf(w, "preadmit: compared %s with a scan: ", cli.Count(v.Compared, "answer", "answers"))
	if n := len(v.Differences); n > 0 {
		_, _ = fmt.Fprintf(w, "%s", cli.Count(n, "answer differs", "answers differ"))
	} else {
		_, _ = fmt.Fprint(w, "all are the same")
	}
	if n := len(v.Unknown); n > 0 {
		_, _ = fmt.Fprintf(w, "; of %s a scan does not know the answer", cli.Count(n, "object", "objects"))
	}
	if n := len(v.NoKind); n > 0 {
		_, _ = fmt.Fprintf(w, "; of %s nothing defines the kind", cli.Count(n, "object", "objects"))
	}
	_, _ = fmt.Fprintln(w)
}
