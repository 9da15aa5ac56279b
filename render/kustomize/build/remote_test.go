package build

import (
	"testing"
)

// TestLocalNames checks entries that resemble remote ones.
func TestLocalNames(t *testing.T) {
	for _, entry := range []string{
		"base", "./base", "../base", "a@b", "git", "github.com", "my.github.com/x/y", "http/x/y", "httpx://a", "a:b", "base?ref=x", "ssh:/a",
	} {
		if remoteBase(entry) {
			t.Errorf("%q is taken for a remote base", entry)
		}
	}
}
