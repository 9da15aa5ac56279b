// Package excerpt formats the source lines of a location, with the range underlined. Draw
// returns them for a writer with colours, Lines as plain text. A Window is the visible part
// of long lines.
package excerpt
