package github

import (
	"fmt"
	"strconv"
	"strings"
)

// PullWithHead returns the number of the pull request whose head is a commit, by the references of a
// repository and their commits: the highest if there are several, 0 if there is none.
func PullWithHead(refs map[string]string, sha string) int {
	highest := 0
	for name, hash := range refs {
		if number, ok := pullOfHead(name); ok && hash == sha {
			highest = max(highest, number)
		}
	}
	return highest
}

// pullOfHead returns the number of the pull request whose head a reference is. ok is false for
// all other references, such as refs/pull/8/merge.
func pullOfHead(reference string) (number int, ok bool) {
	number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(reference, "refs/pull/"), "/head"))
	return number, err == nil && reference == fmt.Sprintf("refs/pull/%d/head", number)
}
