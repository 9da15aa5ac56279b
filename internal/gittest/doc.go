// Package gittest has real git repositories for tests, made and served by git itself:
// History is one with a pull request, Server serves those below a directory by git's
// http-backend. Nothing depends on the configuration of the machine.
package gittest
