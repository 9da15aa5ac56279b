// Package mask masks the values of Secrets that a report quotes from files. It never
// modifies a report: parts that need a mask are copied, the others are shared.
package mask
