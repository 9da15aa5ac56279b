// Package outline groups what a report says, and words it, for all formats that people
// read.
//
//   - Entries merges findings that are the same for a reader, as of a manifest that
//     twelve overlays share; GroupByRule groups entries by what made them.
//   - Reasons groups what could not be judged by reason and place, Remarks merges
//     diagnostics.
//   - TallyOf counts findings; Outcome, RootsText and Summary say the counts in words.
//   - Place, Request, ObjectName and others name one thing in one line.
//
// The texts are escaped, see package escape, but for those of RuleOf and Verdict.
package outline
