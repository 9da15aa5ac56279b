// Package hostile creates git repositories that attack a scan, and knows what the scan has
// to report.
//
// A [Case] is a pull request: [Case.Make] writes it as a bare git repository with a base
// and a head. A [Canary] has what no attack may reach: a token, a file, a port. After a
// scan, [Canary.Reached] and [Unsafe] return what went wrong. The groups of cases are
// bombs, charts, Jsonnet, remote bases, programs, escapes from the tree, sizes, expressions and names.
//
// Tests scan all [Cases] in a jail; the heavy ones, and a [Sample], also with the command.
package hostile
