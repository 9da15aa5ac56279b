// Package text writes reports for a terminal or a log, in colours if they are
// wanted. A printer writes lines of styled spans and guards each of them as a whole.
package text
