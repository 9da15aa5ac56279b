// Package html writes a report as a self-contained HTML page: no script, no request, and
// one style sheet that the page's content security policy allows by its hash. PartsOf
// returns the same as parts, to embed in other pages.
package html
