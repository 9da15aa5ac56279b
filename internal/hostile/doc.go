// Package hostile makes git repositories that attack a scan, and says what the scan has
// to report.
//
// A [Case] is a pull request: [Case.Make] writes it as a bare git repository with a base
// and a head. A [Canary] is what no attack may reach: a token, a file, a port. After a
// scan, [Canary.Reached] and [Unsafe] return what went wrong. The groups of cases are
// bombs, remote bases, programs, escapes from the tree, sizes, expressions and names.
//
// [Cases] are scanned in a jail; the heavy ones, and a [Sample], by the command as well.
package hostile
