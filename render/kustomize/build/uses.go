package build

import (
	"fmt"
	"path"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// UsesOf returns what the kustomization files of a directory use.
func UsesOf(t *tree.Tree, dir string, names []string) *render.Uses {
	s := &usesReader{tree: t, dir: dir, Uses: &render.Uses{Within: dir}}
	first := true
	if len(names) > 1 {
		s.diagnose(render.SeverityError, tree.Position{Path: path.Join(dir, names[1])},
			"there is more than one kustomization file in this directory: %s", strings.Join(names, ", "))
	}
	for _, name := range names {
		full := path.Join(dir, name)
		s.look(full)
		k, _, err := kustomizationAt(t, full, tree.NewTrace())
		if err != nil {
			p := render.Unreadable(full, err)
			s.diagnose(render.SeverityError, p.Position, "%s", p.Message)
			continue
		}
		if first {
			first, s.Component = false, k.Spec.Kind == "Component"
		}
		s.use(k)
	}
	return s.Uses
}

// usesReader finds what the kustomization files of a directory use.
type usesReader struct {
	*render.Uses
	tree *tree.Tree
	dir  string
}

func (s *usesReader) diagnose(severity render.Severity, pos tree.Position, format string, args ...any) {
	s.Diagnostics = append(s.Diagnostics, render.Diagnostic{Severity: severity, Position: pos, Message: fmt.Sprintf(format, args...)})
}

// look resolves a path, and records the directories and links on it.
func (s *usesReader) look(name string) *tree.Resolution {
	to := s.tree.Resolve(name)
	s.Within = tree.CommonDir(s.Within, name)
	s.Linked = s.Linked || len(to.Links) > 0
	return to
}

// use records the files and directories that a kustomization names.
func (s *usesReader) use(k *Kustomization) {
	for _, r := range k.refs() {
		if r.Kind == RefPlugin {
			s.usePlugin(k, r)
			continue
		}
		if r.Kind == RefInline {
			continue
		}
		if to := s.useTarget(path.Join(k.Dir, r.Value)); r.Kind == RefResource && to.Err == nil && !to.IsDir {
			s.Resources = append(s.Resources, to.Real)
		}
	}
	files, dirs := k.helmFiles()
	for _, f := range files {
		s.Files = append(s.Files, s.real(path.Join(k.Dir, f)))
	}
	for _, dir := range dirs {
		s.Dirs = append(s.Dirs, s.real(path.Join(k.Dir, dir)))
	}
}

func (s *usesReader) real(name string) string {
	s.look(name)
	return s.tree.RealOr(name)
}

// useTarget records a file, or a directory as a base. The kustomization's own directory is no base.
func (s *usesReader) useTarget(target string) *tree.Resolution {
	to := s.look(target)
	switch {
	case to.Err != nil:
	case !to.IsDir:
		s.Files = append(s.Files, to.Real)
	case to.Real != s.dir:
		s.Bases = append(s.Bases, to.Real)
	}
	return to
}

// usePlugin records plugin configuration and the files it names.
func (s *usesReader) usePlugin(k *Kustomization, r ref) {
	data := []byte(r.Value)
	if !IsInline(r.Value) {
		target := path.Join(k.Dir, r.Value)
		s.useTarget(target)
		var err error
		if data, _, err = s.tree.Load(target, tree.NewTrace()); err != nil {
			return
		}
	}
	for _, p := range pluginFiles(data) {
		if to := s.look(path.Join(k.Dir, p)); to.Err == nil && !to.IsDir {
			s.Files = append(s.Files, to.Real)
		}
	}
}
