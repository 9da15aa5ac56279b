// Package sandbox tests the built `preadmit sandbox` with kubectl.
package sandbox
