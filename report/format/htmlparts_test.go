package format_test

import (
	"strings"
	"testing"

	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/report/format/html"
)

// TestPartsAreThoseOfThePage: the parts for other pages are the same text as in the report's
// own page, masked and escaped in the same way.
func TestPartsAreThoseOfThePage(t *testing.T) {
	for _, name := range reports(t) {
		r := read(t, name)
		const blob = "https://github.com/o/r/blob/abc/"
		whole := page(t, r, format.Options{Blob: blob})
		parts, err := html.PartsOf(r, html.Options{Blob: blob})
		if err != nil {
			t.Fatal(err)
		}
		if parts.Headline == "" || parts.Sections == "" {
			t.Errorf("%s: a part is empty: %+v", name, parts)
		}
		for _, part := range []string{string(parts.Contents), string(parts.Sections), parts.Headline, "top " + parts.Class} {
			if !strings.Contains(whole, part) {
				t.Errorf("%s: the page lacks this part: %.300s", name, part)
			}
		}
		if strings.Contains(whole, `class="many"`) != parts.Many {
			t.Errorf("%s: many is %v", name, parts.Many)
		}
	}
	if !strings.Contains(page(t, read(t, "one"), zero), html.Stylesheet()) {
		t.Error("the style sheet is not the page's")
	}
}
