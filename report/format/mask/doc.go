// Package mask hides the values of Secrets that a report quotes from files. A report is
// never modified: what needs a mask is copied, the rest is shared.
package mask
