package outline

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format/escape"
)

// Place returns path:line:column, as far as known.
func Place(l *report.Location) string {
	s := escape.Text(l.Path)
	if l.StartLine > 0 {
		s += ":" + Position(l)
	}
	if l.Tree == "base" {
		s += " (base)"
	}
	return s
}

// Link returns the URL of a place below the URL blob, "" if there is none.
func Link(blob string, l *report.Location) string {
	if blob == "" || l.Path == "" || l.Tree == "base" || len(l.Path) > 1000 {
		return ""
	}
	url := blob + RelativeURI(l.Path)
	if l.StartLine > 0 {
		url += fmt.Sprintf("#L%d", l.StartLine)
	}
	return url
}

// RelativeURI percent-encodes a path to a relative reference of RFC 3986. It encodes
// colons, because one in the first segment would end a scheme.
func RelativeURI(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.PathEscape(s), ":", "%3A")
	}
	return strings.TrimLeft(strings.Join(segments, "/"), "/")
}

// DefinedAt returns path:line, as far as known.
func DefinedAt(d *report.Definition) string {
	if d.StartLine == 0 {
		return d.Path
	}
	return fmt.Sprintf("%s:%d", d.Path, d.StartLine)
}

// Position returns line:column, as far as known.
func Position(l *report.Location) string {
	switch {
	case l.StartLine == 0:
		return "-"
	case l.StartColumn == 0:
		return strconv.Itoa(l.StartLine)
	}
	return strconv.Itoa(l.StartLine) + ":" + strconv.Itoa(l.StartColumn)
}
