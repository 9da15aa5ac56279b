package main

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report/format/escape"
)

// findRoot returns the root in a directory of the tree, and the problems of files that may
// belong to it. A kustomization is found without a search of the tree, and other
// kustomizations may use it.
func findRoot(ctx context.Context, renderer *render.Renderer, dir string) (render.Root, []render.Diagnostic, error) {
	if root, ok := renderer.At(dir); ok {
		return root, nil, nil
	}
	found, err := renderer.Discover(ctx)
	if err != nil {
		return render.Root{}, nil, err
	}
	var remarks []render.Diagnostic
	for _, d := range found.Diagnostics {
		if path.Dir(d.Path) == dir {
			remarks = append(remarks, d)
		}
	}
	for _, root := range found.Roots {
		if root.Dir == dir {
			return root, remarks, nil
		}
	}
	return render.Root{}, nil, notRoot(dir, found.Roots)
}

// notRoot returns the error of a directory that is not a root, with the roots near it.
func notRoot(dir string, roots []render.Root) error {
	message := fmt.Sprintf("%s is not a root: it has no kustomization, and no manifests that no kustomization elsewhere uses",
		escape.Line(dir))
	near, where := nearRoots(dir, roots)
	if len(near) == 0 {
		return cli.Usagef("ROOT: %s\nthere is no root in the whole tree", message)
	}
	return cli.Usagef("ROOT: %s\nroots %s: %s", message, where, listed(near, ""))
}

// nearRoots returns the roots below a directory or, if there are none, below the nearest
// directory above it that has some.
func nearRoots(dir string, roots []render.Root) (near []string, where string) {
	where = "below it"
	for {
		for _, root := range roots {
			if dir == "." || strings.HasPrefix(root.Dir, dir+"/") || root.Dir == dir {
				near = append(near, escape.Line(root.Dir))
			}
		}
		if len(near) > 0 || dir == "." {
			return near, where
		}
		where, dir = "near it", path.Dir(dir)
	}
}

// maxListed is the number of names that a message lists.
const maxListed = 10

// listed joins the first few names. It returns "nothing" if there are none.
func listed(names []string, nothing string) string {
	switch {
	case len(names) == 0:
		return nothing
	case len(names) > maxListed:
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(" and %d more", len(names)-maxListed)
	}
	return strings.Join(names, ", ")
}
