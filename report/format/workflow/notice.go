package workflow

import "github.com/preadmit/preadmit/report/format/escape"

// Notice is the workflow command of GitHub Actions, without a newline, that shows text
// as a notice of the run. The text may be of a repository or a server: it is escaped.
func Notice(text string) string { return "::notice title=preadmit::" + escape.CommandData(text) }
