// Package gittest has real git repositories for tests, created and served by git itself:
// History is one with a pull request, and Server serves repositories with git's http-backend.
// Nothing depends on the configuration of the machine.
package gittest
