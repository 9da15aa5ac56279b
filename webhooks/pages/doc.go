// Package pages shows scans to people and serves them to programs: pages made by
// html/template that need no script, and the API below /api/v1.
//
// Pages are private. A viewer sees what they may read on GitHub, which is checked with the viewer's
// own token; everything else appears as not existing. Text of pull requests is hostile: it reaches
// a page only through html/template or package report, and the content security policy of a page
// allows no script but the service's own file.
//
// A request is authenticated by the session (a signed cookie after a login at GitHub, or a token
// of the API in the header), which gives a viewer; rights caches for a minute which repositories
// the viewer may read. The list, a scan and the queue come from the scan index of package queue,
// a report from its object store; package report/format renders it. Starting a scan enqueues
// a job, if the viewer may write to the repository on GitHub. Errors of the API are
// application/problem+json (problem); protect sets the headers of every response.
package pages
