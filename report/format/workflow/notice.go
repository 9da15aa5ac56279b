package workflow

import "github.com/preadmit/preadmit/report/format/escape"

// Notice returns the workflow command of GitHub Actions, without a newline, that shows text
// as a notice of the run. It escapes the text, which may come from a repository or a server.
func Notice(text string) string { return "::notice title=preadmit::" + escape.CommandData(text) }
