package githubtest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/internal/gittest"
)

// git runs git in a repository.
func (r *repository) git(args ...string) (string, error) {
	if r.dir == "" {
		return "", fmt.Errorf("git in %s: it was not made by AddRepository", r.full())
	}
	return gittest.Run(r.dir, "", nil, args...)
}

// answers caches the output of git commands that only read objects, by command. Objects with equal
// names are the same in all repositories. Starting git takes most of its time.
var answers sync.Map

// readObjects runs a command that only reads existing objects, which are given by full name.
func (r *repository) readObjects(args ...string) (string, error) {
	command := strings.Join(args, " ")
	if known, ok := answers.Load(command); ok {
		return known.(string), nil
	}
	answer, err := r.git(args...)
	if err == nil {
		answers.Store(command, answer)
	}
	return answer, err
}

// at returns the object of a ref.
func (r *repository) at(ref string) (string, error) {
	text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(ref)))
	if sha := strings.TrimSpace(string(text)); err == nil && isObjectName(sha) {
		return sha, nil // git stores recently changed refs this way
	}
	if _, packed := os.Stat(filepath.Join(r.dir, "packed-refs")); err != nil && packed != nil {
		return "", err // git stores other refs there
	}
	return r.git("rev-parse", "--verify", "-q", ref)
}

// set sets a ref to an object, in git's format.
func (r *repository) set(ref, sha string) error {
	file := filepath.Join(r.dir, filepath.FromSlash(ref))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("set %s of %s: %w", ref, r.full(), err)
	}
	if err := os.WriteFile(file+".lock", []byte(sha+"\n"), 0o644); err != nil {
		return fmt.Errorf("set %s of %s: %w", ref, r.full(), err)
	}
	return os.Rename(file+".lock", file)
}

// take sets a ref to a commit of this repository or of another.
func (r *repository) take(from *repository, sha, ref string) error {
	if from == r {
		return r.set(ref, sha)
	}
	_, err := r.git("fetch", "-q", from.dir, "+"+sha+":"+ref)
	return err
}

// tip returns the commit of a branch, "" when there is none.
func (r *repository) tip(branch string) string {
	sha, err := r.at("refs/heads/" + branch)
	if err != nil {
		return ""
	}
	return sha
}

// addCommit records that an object is a commit, and returns it.
func (r *repository) addCommit(sha string) string {
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[sha] = true
	return sha
}

// commitAt returns the commit of an object, which may be a tag.
func (r *repository) commitAt(object string) (string, error) {
	if r.known[object] {
		return object, nil
	}
	sha, err := r.git("rev-parse", "--verify", "-q", object+"^{commit}")
	if err != nil {
		return "", err // it may be created later
	}
	return r.addCommit(sha), nil
}

// commitOf returns the commit of the first existing one of some refs and object names, else "".
func (r *repository) commitOf(names ...string) string {
	for _, name := range names {
		if strings.HasPrefix(name, "-") {
			continue
		}
		if !isObjectName(name) {
			sha, err := r.at(name)
			if err != nil {
				continue
			}
			name = sha
		}
		if sha, err := r.commitAt(name); err == nil {
			return sha
		}
	}
	return ""
}

// isObjectName reports whether a name is a full object name.
func isObjectName(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == sha1.Size
}

// refsWith returns the refs that contain a commit.
func (r *repository) refsWith(sha string) map[string]bool {
	refs := map[string]bool{}
	all, err := r.git("for-each-ref", "--contains", sha, "--format=%(refname)")
	if err != nil {
		return refs
	}
	for ref := range strings.Lines(all) {
		refs[strings.TrimSpace(ref)] = true
	}
	return refs
}
