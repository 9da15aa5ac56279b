// Package openapi checks the requests and responses of a GitHub for tests against GitHub's
// own OpenAPI description, and completes responses by it: Request finds the operation and
// checks the request, Complete adds what the schema requires, Response checks the response.
//
// github.json is the part of the description that the server needs; a test of package
// githubtest extracts it from @octokit/openapi.
package openapi
