package format_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

// manyFindings repeats the findings of testdata/many.json with different messages and
// lines.
func manyFindings(t testing.TB, n int) *report.Report {
	t.Helper()
	r := read(t, "many")
	seed := r.Findings
	r.Findings = make([]report.Finding, n)
	for i := range r.Findings {
		f := seed[i%len(seed)]
		if f.Cause == report.CauseRender { // an error, whatever action a test gives it
			f.Cause = report.CauseSchema
		}
		f.Message = fmt.Sprintf("number %d of many: %s", i, f.Message)
		f.Fingerprint = fmt.Sprintf("%032x", i)
		f.Location.Path = fmt.Sprintf("dir-%d/%s", i/10, f.Location.Path)
		r.Findings[i] = f
	}
	return r
}

// BenchmarkWrite30000 writes 30,000 findings, more than any pull request should
// have.
func BenchmarkWrite30000(b *testing.B) {
	r := manyFindings(b, 30_000)
	for _, name := range format.Formats() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := format.Write(io.Discard, name, r, format.Options{Color: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead30000(b *testing.B) {
	doc := write(b, "json", manyFindings(b, 30_000), zero)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := report.Read(reader(doc)); err != nil {
			b.Fatal(err)
		}
	}
}
