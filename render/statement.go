package render

import (
	"fmt"
	"path"
	"strings"
)

// usesOf reads the kustomization files of a directory.
func usesOf(t *tree, dir string, names []string) *Uses {
	s := &usesReader{tree: t, dir: dir, Uses: &Uses{Within: dir}}
	first := true
	if len(names) > 1 {
		s.diagnose(SeverityError, Position{Path: path.Join(dir, names[1])},
			"there is more than one kustomization file in this directory: %s", strings.Join(names, ", "))
	}
	for _, name := range names {
		full := path.Join(dir, name)
		s.look(full)
		k, _, err := kustomizationAt(t, full, newTrace())
		if err != nil {
			p := unreadable(full, err)
			s.diagnose(SeverityError, p.Position, "%s", p.Message)
			continue
		}
		if first {
			first, s.Component = false, k.spec.Kind == "Component"
		}
		s.use(k)
	}
	return s.Uses
}

// usesReader finds what the kustomization files of a directory use.
type usesReader struct {
	*Uses
	tree *tree
	dir  string
}

func (s *usesReader) diagnose(severity Severity, pos Position, format string, args ...any) {
	s.Diagnostics = append(s.Diagnostics, Diagnostic{Severity: severity, Position: pos, Message: fmt.Sprintf(format, args...)})
}

// look follows a path, and notes where it leads through.
func (s *usesReader) look(name string) *resolution {
	to := s.tree.resolve(name)
	s.Within = commonDir(s.Within, name)
	s.Linked = s.Linked || len(to.links) > 0
	return to
}

// commonDir is the lowest directory that holds both a directory and a path, or is the
// path; the top for paths that lead out of the tree.
func commonDir(dir, name string) string {
	for dir != "." && dir != name && !strings.HasPrefix(name, dir+"/") {
		dir = path.Dir(dir)
	}
	return dir
}

// use notes the files and directories a kustomization names.
func (s *usesReader) use(k *kustomization) {
	for _, r := range k.refs() {
		if r.kind == refPlugin {
			s.usePlugin(k, r)
			continue
		}
		if r.kind == refInline {
			continue
		}
		if to := s.useTarget(path.Join(k.dir, r.value)); r.kind == refResource && to.err == nil && !to.isDir {
			s.Resources = append(s.Resources, to.real)
		}
	}
	files, dirs := k.helmFiles()
	for _, f := range files {
		s.Files = append(s.Files, s.real(path.Join(k.dir, f)))
	}
	for _, dir := range dirs {
		s.Dirs = append(s.Dirs, s.real(path.Join(k.dir, dir)))
	}
}

func (s *usesReader) real(name string) string {
	s.look(name)
	return s.tree.realOr(name)
}

// useTarget notes a file, or a directory as a base. A kustomization that uses
// its own directory does not use another.
func (s *usesReader) useTarget(target string) *resolution {
	to := s.look(target)
	switch {
	case to.err != nil:
	case !to.isDir:
		s.Files = append(s.Files, to.real)
	case to.real != s.dir:
		s.Bases = append(s.Bases, to.real)
	}
	return to
}

// usePlugin notes plugin configuration and the files it names.
func (s *usesReader) usePlugin(k *kustomization, r ref) {
	data := []byte(r.value)
	if !text(r.value) {
		target := path.Join(k.dir, r.value)
		s.useTarget(target)
		var err error
		if data, _, err = s.tree.load(target, newTrace()); err != nil {
			return
		}
	}
	for _, p := range pluginFiles(data) {
		if to := s.look(path.Join(k.dir, p)); to.err == nil && !to.isDir {
			s.Files = append(s.Files, to.real)
		}
	}
}
