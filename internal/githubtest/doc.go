// Package githubtest is a GitHub for tests: a server on the loopback interface with
// repositories that are real git repositories, pull requests, check runs, comments, SARIF
// uploads, and GitHub Apps with their installations, tokens, webhooks and logins.
//
// There are two ways to use it:
//
//   - [New] alone makes one repository without git, the pull request 7, and one token that
//     may do everything in the repository, as the token of a workflow.
//   - AddRepository, AddApp and Install make repositories with Apps. A request may then do
//     what its token may. What a test does - Push, OpenPull, Comment - is sent to the Apps
//     by webhooks, which were delivered, or have failed, when the method returns.
//
// The server checks every request and every answer against GitHub's OpenAPI description
// (openapi), and enforces permissions and what GitHub is known to refuse beyond the
// description: sizes in bytes, 64 KB of annotations, columns within a line, check runs of
// other apps, and App tokens where a user's token is needed. Tests make requests fail with
// Intercept.
package githubtest
