// Package terminal measures text in columns of a terminal: wide runes take two, marks
// that combine take none, and a tab of a source line takes four.
package terminal
