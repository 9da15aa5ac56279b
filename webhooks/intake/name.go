package intake

import (
	"encoding/hex"
	"strings"
)

// maxName is the longest name of an owner, repository or user, in bytes. GitHub's are
// shorter: 39 characters for users, 100 for repositories.
const maxName = 100

// maxRef is the maximum length of a ref, in bytes; git servers reject longer ones.
const maxRef = 255

const branchPrefix = "refs/heads/"

// isName reports whether s can be the name of an owner or a repository.
func isName(s string) bool {
	if s == "" || len(s) > maxName || s == "." || s == ".." {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r))
	}) < 0
}

// isObjectName reports whether s is the full name of a git object, and not all zeros.
func isObjectName(s string) bool {
	if len(s) != 40 && len(s) != 64 || strings.ToLower(s) != s || strings.Trim(s, "0") == "" {
		return false
	}
	_, err := hex.DecodeString(s)
	return err == nil
}

// isBranch reports whether s is the ref of a branch, by those rules of git-check-ref-format that
// matter in a URL, a command or a log.
func isBranch(s string) bool {
	name, ok := strings.CutPrefix(s, branchPrefix)
	switch {
	case !ok || name == "" || len(s) > maxRef:
		return false
	case strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.HasPrefix(name, "-"):
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == '\uFFFD' || strings.ContainsRune(`~^:?*[\`, r)
	}) < 0
}
