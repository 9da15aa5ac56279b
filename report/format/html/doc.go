// Package html writes a report as one HTML page that needs nothing else: no script, no
// request, one style sheet that is named by its hash in the page's content security
// policy. PartsOf returns the same as parts, for pages that have a frame of their own.
package html
