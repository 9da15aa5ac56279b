// Package pages shows scans to people and serves them to programs: pages made by
// html/template that need no script, and the API below /api/v1.
//
// Pages are private. A viewer sees what they may read on GitHub, asked of GitHub with
// the viewer's own token; what they may not read is as if it were not there. Text that
// comes from pull requests is hostile: it reaches a page through html/template or the
// report package only, and the policy of a page lets no script run but its own file.
//
// A request goes through the session (a signed cookie after a login at GitHub, or a token
// of the API in the header), which makes a viewer; rights caches for a minute which
// repositories the viewer may read. The list, a scan and the queue come from the scan
// index of package queue, a report from its object store; package report/format writes
// it. Starting a scan enqueues a job, after GitHub said that the viewer may write. Errors
// of the API are application/problem+json (problem); protect sets the headers of every
// answer.
package pages
