package github

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/preadmit/preadmit/report"
)

// Limits of GitHub's API for check runs. "Characters" of summary and text are bytes:
// GitHub refuses a summary that "exceeds a maximum bytesize of 65535"
// (github.com/github/docs/issues/35252).
const (
	// MaxSummary bounds summary and text of a check run, each, in bytes.
	MaxSummary = 65535
	// SummaryRoom is the limit for writers of a summary, in characters. It leaves room for
	// the note on annotations. Text with many bytes per character is still cut at MaxSummary.
	SummaryRoom = MaxSummary - 1000
	// MaxAnnotations is the maximum number of annotations of a check run. GitHub has no
	// limit, but nobody reads more, and every 50 annotations take one request.
	MaxAnnotations = 200
	// MaxBatch is the maximum number of annotations that GitHub accepts in one request.
	MaxBatch = 50
	// maxTitle bounds titles of check runs and annotations, in bytes.
	maxTitle = 255
	// maxAnnotationText bounds an annotation's message and its raw details, in bytes.
	// GitHub documents "64 KB", which may be 64,000 or 65,536.
	maxAnnotationText = 64000
)

// Conclusion is the conclusion of a completed check run.
type Conclusion string

// The conclusions of preadmit's check runs. Success and neutral do not block a merge; GitHub
// counts a required check run that is neutral as passed.
const (
	Success Conclusion = "success"
	Neutral Conclusion = "neutral"
	// ActionRequired means that nothing was judged and that somebody has to act.
	ActionRequired Conclusion = "action_required"
	Failure        Conclusion = "failure"
	Cancelled      Conclusion = "cancelled"
)

// Conclude returns a report's conclusion: failure for a verdict other than passed,
// neutral when something that the change touches could not be judged (with existing,
// anything), such as a root that does not render, or no policy was in force, else success. failOn and existing are passed to
// report.Report.Verdict.
func Conclude(r *report.Report, failOn string, existing bool) Conclusion {
	if r.Verdict(failOn, existing) != report.VerdictPassed {
		return Failure
	}
	if r.Summary.NoPolicies != nil {
		return Neutral
	}
	for _, i := range r.Indeterminate {
		if existing || !i.Untouched {
			return Neutral
		}
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Cause == report.CauseRender && isReported(f, existing) {
			return Neutral
		}
	}
	return Success
}

// Check is the content of a check run.
type Check struct {
	Conclusion Conclusion
	// Title is one line of plain text, at most 255 bytes.
	Title string
	// Summary and Text are Markdown of any length. Text over GitHub's limit is cut, with
	// a count of the lines left out.
	Summary, Text string
	// Annotations are in order of importance. There may be more than MaxAnnotations; the
	// summary counts those left out.
	Annotations []Annotation
	// Over counts the places left out of Annotations because there are too many, and
	// Hidden those outside the files of the pull request. The summary shows both.
	Over, Hidden int
	// Unlisted counts the places of a pull request whose files GitHub did not list.
	Unlisted int `json:",omitempty"`
}

// digest returns a digest of the check's content, without the notes on limits and links.
func (c *Check) digest() string {
	doc, err := json.Marshal(c)
	if err != nil { // cannot happen: a Check holds only strings, numbers and structs of them
		panic(fmt.Sprintf("encode a check: %v", err))
	}
	return digest(doc)
}

// digest returns the first 32 hex digits of the SHA-256 sum of content.
func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// isReported reports whether a finding is new, or existing with existing set.
func isReported(f *report.Finding, existing bool) bool {
	return f.Status == report.StatusNew || existing && f.Status == report.StatusExisting
}

// fit returns summary and text cut to GitHub's limits, the summary with the note on annotations.
func (c *Check) fit(detailsURL string) (summary, text string) {
	note := c.annotationNote(detailsURL)
	summary = cut(c.Summary, MaxSummary-len(note), bytesOf, cutNote(detailsURL)) + note
	if strings.TrimSpace(summary) == "" {
		summary = clip(c.Title, maxTitle) // GitHub requires a summary
	}
	return summary, cut(c.Text, MaxSummary, bytesOf, cutNote(detailsURL))
}

// annotationNote returns a paragraph on the places that have no annotation.
func (c *Check) annotationNote(detailsURL string) string {
	over := c.Over + max(0, len(c.Annotations)-MaxAnnotations)
	if over+c.Hidden+c.Unlisted == 0 {
		return ""
	}
	var why []string
	if over > 0 {
		why = append(why, fmt.Sprintf("%d are over the limit of %d", over, MaxAnnotations))
	}
	if c.Hidden > 0 {
		why = append(why, fmt.Sprintf("%d are not in files that the pull request adds or changes", c.Hidden))
	}
	if c.Unlisted > 0 {
		why = append(why, fmt.Sprintf("for %d it is not known whether they are in files of the pull request, which GitHub did not list", c.Unlisted))
	}
	return fmt.Sprintf("\n\n_Places without annotation: %d; %s._%s\n", over+c.Hidden+c.Unlisted, strings.Join(why, ", "), more(detailsURL))
}

// more returns a sentence that links to the page with the whole report.
func more(detailsURL string) string {
	if detailsURL == "" {
		return ""
	}
	return " The rest: <" + detailsURL + ">"
}

func bytesOf(s string) int { return len(s) }

// clip cuts text to a number of bytes, between runes.
func clip(s string, limit int) string {
	const ellipsis = "…"
	if len(s) <= limit {
		return s
	}
	end := limit - len(ellipsis)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + ellipsis
}
