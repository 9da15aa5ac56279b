// Package excerpt draws the lines of source that a location quotes, with the range
// underlined. Draw returns the lines for a writer that has colours, Lines as plain text.
// A Window is the part of a long line that is shown.
package excerpt
