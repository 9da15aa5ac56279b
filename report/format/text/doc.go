// Package text writes reports for a terminal or a log, optionally in colours. A printer
// writes lines of styled spans and guards each line as a whole against workflow commands.
package text
