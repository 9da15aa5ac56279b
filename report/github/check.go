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
	// SummaryRoom is the limit to write a summary with, which leaves room for the note
	// on annotations; the cut at MaxSummary is then for text of many bytes a character.
	SummaryRoom = MaxSummary - 1000
	// MaxAnnotations is how many annotations a check run gets. GitHub has no limit of
	// its own, but nobody reads more, and every 50 are a request.
	MaxAnnotations = 200
	// MaxBatch is how many annotations GitHub takes in one request.
	MaxBatch = 50
	// maxTitle bounds titles of check runs and annotations, in bytes.
	maxTitle = 255
	// maxAnnotationText bounds an annotation's message and its raw details, in bytes;
	// GitHub's "64 KB" may be either of the two.
	maxAnnotationText = 64000
)

// Conclusion is what a check run says at its end.
type Conclusion string

// The conclusions of preadmit's check runs. Success and neutral do not block a merge; GitHub
// counts a required check run that is neutral as passed.
const (
	Success Conclusion = "success"
	Neutral Conclusion = "neutral"
	// ActionRequired waits for somebody: nothing was judged.
	ActionRequired Conclusion = "action_required"
	Failure        Conclusion = "failure"
	Cancelled      Conclusion = "cancelled"
)

// Conclude returns a report's conclusion: failure for a verdict that is not passed,
// neutral when something that the change touches could not be judged (with existing,
// anything) or no policy was in force, else success. failOn and existing are those of report.Report.Verdict.
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
	return Success
}

// Check is the content of a check run.
type Check struct {
	Conclusion Conclusion
	// Title is one line of plain text, at most 255 bytes.
	Title string
	// Summary and Text are Markdown of any length: what is over GitHub's limit is cut,
	// with a count of what was left out.
	Summary, Text string
	// Annotations are in the order of importance. There may be more than
	// MaxAnnotations; what is left out is counted in the summary.
	Annotations []Annotation
	// Over counts further places, which are not in Annotations as there are too many,
	// and Hidden those that are not in files of the pull request. The summary tells
	// both.
	Over, Hidden int
	// Unlisted counts the places of a pull request whose files GitHub did not list.
	Unlisted int `json:",omitempty"`
}

// digest identifies what a check says. Notes on limits and links do not belong to it.
func (c *Check) digest() string {
	doc, err := json.Marshal(c)
	if err != nil { // it is made of strings and numbers
		panic(fmt.Sprintf("encode a check: %v", err))
	}
	return digest(doc)
}

// digest is 32 hex digits that differ for different contents.
func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

// isReported reports whether a finding is the change's, or existing ones are wanted.
func isReported(f *report.Finding, existing bool) bool {
	return f.Status == report.StatusNew || existing && f.Status == report.StatusExisting
}

// fit cuts summary and text, and appends the note on annotations.
func (c *Check) fit(detailsURL string) (summary, text string) {
	note := c.annotationNote(detailsURL)
	summary = cut(c.Summary, MaxSummary-len(note), bytesOf, cutNote(detailsURL)) + note
	if strings.TrimSpace(summary) == "" {
		summary = clip(c.Title, maxTitle) // GitHub wants one
	}
	return summary, cut(c.Text, MaxSummary, bytesOf, cutNote(detailsURL))
}

// annotationNote says which places have no annotation, in a paragraph of its own.
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
		why = append(why, fmt.Sprintf("%d are not in files of the pull request", c.Hidden))
	}
	if c.Unlisted > 0 {
		why = append(why, fmt.Sprintf("for %d it is not known whether they are in files of the pull request, which GitHub did not list", c.Unlisted))
	}
	return fmt.Sprintf("\n\n_Places without annotation: %d; %s._%s\n", over+c.Hidden+c.Unlisted, strings.Join(why, ", "), more(detailsURL))
}

// more points at the page with everything.
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
