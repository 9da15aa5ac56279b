package overlay

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/preadmit/preadmit/render/artifact"
)

// repository is the tree of a git repository with its submodules.
type repository interface {
	Submodules() []artifact.Submodule
	// Graft returns the tree with other trees at the paths of submodules.
	Graft(map[string]fs.FS) (fs.FS, error)
}

const (
	// maxDepth limits the nesting of submodules.
	maxDepth = 10
	// maxSubmodules limits the submodules of a repository, including nested ones.
	maxSubmodules = 100
)

// withSubmodules returns the tree of a repository with all of its submodules. Like git, it fails if one of them is
// missing.
func (o *overlay) withSubmodules(a artifact.Artifact) (fs.FS, error) {
	if known, ok := o.whole.Load(a); ok {
		return known.(fs.FS), nil
	}
	left := maxSubmodules
	tree, err := o.complete(a, 0, &left)
	if err == nil {
		o.whole.Store(a, tree)
	}
	return tree, err
}

// complete adds the submodules of a repository to its tree. It looks up all of them before it returns the first error.
func (o *overlay) complete(a artifact.Artifact, depth int, left *int) (fs.FS, error) {
	tree, _, err := o.contents.Tree(a.Plain())
	if err != nil {
		return nil, err
	}
	top, ok := tree.(repository)
	if !ok || len(top.Submodules()) == 0 {
		return tree, nil
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("%s has submodules that have submodules, more than %d deep", a.Plain(), maxDepth)
	}
	trees := map[string]fs.FS{}
	var first error
	for _, module := range top.Submodules() {
		if *left--; *left < 0 {
			return nil, fmt.Errorf("%s has more than %d submodules", a.Plain(), maxSubmodules)
		}
		of, err := module.Of(a.URL)
		if err == nil {
			trees[module.Path], err = o.complete(of, depth+1, left)
		}
		if missing := new(artifact.MissingError); errors.As(err, &missing) {
			err = &artifact.MissingError{Artifact: missing.Artifact, Why: fmt.Sprintf("its submodule %s is %s: %s", module.Path, missing.Artifact, missing.Why), Hint: missing.Hint}
		}
		if first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	return top.Graft(trees)
}

// Submodules returns the submodules of a repository, including nested ones, as far as the repositories that contain
// them are present.
func Submodules(contents artifact.Contents, a artifact.Artifact) []artifact.Artifact {
	left := maxSubmodules
	return submodulesOf(contents, a.Plain(), 0, &left)
}

func submodulesOf(contents artifact.Contents, a artifact.Artifact, depth int, left *int) (all []artifact.Artifact) {
	tree, _, err := contents.Tree(a)
	top, ok := tree.(repository)
	if err != nil || !ok || depth == maxDepth {
		return nil
	}
	for _, module := range top.Submodules() {
		of, err := module.Of(a.URL)
		if *left--; *left < 0 || err != nil {
			continue
		}
		all = append(append(all, of), submodulesOf(contents, of, depth+1, left)...)
	}
	return all
}
