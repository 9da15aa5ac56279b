// Package githubtest is a GitHub for tests: a server on the loopback interface with
// repositories that are real git repositories, pull requests, check runs, comments, SARIF
// uploads, and GitHub Apps with their installations, tokens, webhooks and logins.
//
// There are two ways to use it:
//
//   - [New] alone creates one repository without git, the pull request 7, and one token that
//     may do everything in the repository, like the token of a workflow.
//   - AddRepository, AddApp and Install create repositories with Apps. A request may then do
//     what its token permits. Changes by a test - Push, OpenPull, Comment - are sent to the Apps
//     by webhooks, which were delivered, or have failed, when the method returns.
//
// The server checks every request and every response against GitHub's OpenAPI description
// (openapi). It enforces permissions, and limits that are not in the description: sizes in
// bytes, 64 KB of annotations, columns within a line, check runs of other apps, and App tokens
// where a user's token is required. Tests make requests fail with Intercept.
package githubtest
