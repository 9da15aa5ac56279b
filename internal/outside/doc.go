// Package outside is the world outside of a repository, for tests: Helm repositories, a
// registry and git servers under any names, all of them one server on the loopback interface.
// A dialer leads every name there.
package outside
