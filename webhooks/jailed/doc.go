// Package jailed scans a change in a child process that has no access to anything but the
// repository it scans. Whatever a repository does to the child - crash it, fill its
// memory, keep it busy, take it over - costs a process and a bounded time.
//
// Scanner.Scan starts the hidden command of the program, which runs package child, with an
// empty environment, in a jail, within Limits. It sends the child a Job on its standard input.
// The child sends Messages, each a line of JSON: its stage, when it begins and ends to render
// a root, and at the end an answer with the report.
//
// The parent (monitor) tracks the roots that are being rendered. When a child dies, or is
// killed because it exceeded a limit, the root that it rendered is the cause: Scan starts
// another child with a job that omits that root, and the report states that the root was not
// judged. If several roots were being rendered, the next child renders one at a time, to find
// the cause. Scan fails after Limits.Retries.
//
// The parent does not trust the child, which a repository may have taken over: messages
// and the report are limited and read strictly (verify). Output that no scan would produce is
// ErrForged.
//
// This package does not link the scanner, so that programs that only start scans stay small.
package jailed
