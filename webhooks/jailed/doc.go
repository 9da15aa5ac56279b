// Package jailed scans a change in a child process that can reach nothing but the
// repository it scans. Whatever a repository does to the child - crash it, fill its
// memory, keep it busy, take it over - costs a process and a bounded time.
//
// Scanner.Scan starts the hidden command of the program, whose work package child does,
// with an empty environment, in a jail, within Limits. It sends the child a Job on its
// standard input. The child sends Messages, each a line of JSON: the stage it is at, which
// roots it begins and ends to render, and at the end an answer with the report.
//
// The parent (monitor) keeps the roots that are being rendered. When a child dies, or is
// killed because it went over a limit, the root it rendered is the cause: Scan starts
// another child with the job to leave that root out, and the report says that it was not
// judged. When several roots were being rendered, the next child renders one at a time to
// find out which it is. Scan fails after Limits.Retries.
//
// The parent does not trust the child, which a repository may have taken over: messages
// and the report are bounded and read strictly (verify), and what no scan says is
// ErrForged.
//
// This package does not link the scanner, so that what only starts scans stays small.
package jailed
