// Package outside provides what is outside of a repository, for tests: Helm repositories, a
// registry and git servers under any names, all served by one server on the loopback interface.
// Its dial function connects every name to that server.
package outside
