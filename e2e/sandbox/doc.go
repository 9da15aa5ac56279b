// Package sandbox tests `preadmit sandbox` as it is built, with kubectl.
package sandbox
