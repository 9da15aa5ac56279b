// Package outline groups the content of a report and provides its texts, for all formats
// for people.
//
//   - Entries merges findings that are the same for a reader, for example on a manifest
//     that twelve overlays share; GroupByRule groups entries by rule.
//   - Reasons groups indeterminates by reason and place, Remarks merges diagnostics.
//   - CountsOf counts findings; Headline, RootsText and Summary return the counts as text.
//   - Place, Request, ObjectName and others name one thing in one line.
//
// The texts are escaped, see package escape, except those of RuleOf and Verdict.
package outline
