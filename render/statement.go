package render

import (
	"fmt"
	"path"
	"strings"
)

// statement is what the kustomization files of a directory say: what they use.
type statement struct {
	// component is set when the first of them that can be read is one.
	component bool
	// files are files that are used, dirs directories with everything below.
	files, dirs []string
	// resources are those of files that are listed as resources.
	resources []string
	// bases are other directories, used as a base, component or plugin build.
	bases       []string
	diagnostics []Diagnostic

	// within is the directory that everything lies in which was looked at.
	within string
	// linked is set when a symbolic link led there.
	linked bool
}

// statement reads the kustomization files of a directory.
func (t *tree) statement(l *listing) *statement {
	s := &statement{within: l.path}
	first := true
	if len(l.kustomizations) > 1 {
		s.diagnose(SeverityError, Position{Path: path.Join(l.path, l.kustomizations[1])},
			"there is more than one kustomization file in this directory: %s", strings.Join(l.kustomizations, ", "))
	}
	for _, name := range l.kustomizations {
		full := path.Join(l.path, name)
		s.look(t, full)
		k, _, err := t.kustomizationAt(full, newTrace())
		if err != nil {
			p := unreadable(full, err)
			s.diagnose(SeverityError, p.Position, "%s", p.Message)
			continue
		}
		if first {
			first, s.component = false, k.spec.Kind == "Component"
		}
		s.use(t, l, k)
	}
	return s
}

func (s *statement) diagnose(severity Severity, pos Position, format string, args ...any) {
	s.diagnostics = append(s.diagnostics, Diagnostic{Severity: severity, Position: pos, Message: fmt.Sprintf(format, args...)})
}

// look follows a path, and notes where it leads through.
func (s *statement) look(t *tree, name string) *resolution {
	to := t.resolve(name)
	s.within = commonDir(s.within, name)
	s.linked = s.linked || len(to.links) > 0
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
func (s *statement) use(t *tree, l *listing, k *kustomization) {
	for _, r := range k.refs() {
		if r.kind == refPlugin {
			s.usePlugin(t, l, k, r)
			continue
		}
		if r.kind == refInline {
			continue
		}
		if to := s.useTarget(t, l, path.Join(k.dir, r.value)); r.kind == refResource && to.err == nil && !to.isDir {
			s.resources = append(s.resources, to.real)
		}
	}
	files, dirs := k.helmFiles()
	for _, f := range files {
		s.files = append(s.files, s.real(t, path.Join(k.dir, f)))
	}
	for _, dir := range dirs {
		s.dirs = append(s.dirs, s.real(t, path.Join(k.dir, dir)))
	}
}

func (s *statement) real(t *tree, name string) string {
	s.look(t, name)
	return t.realOr(name)
}

// useTarget notes a file, or a directory as a base. A kustomization that uses
// its own directory does not use another.
func (s *statement) useTarget(t *tree, l *listing, target string) *resolution {
	to := s.look(t, target)
	switch {
	case to.err != nil:
	case !to.isDir:
		s.files = append(s.files, to.real)
	case to.real != l.path:
		s.bases = append(s.bases, to.real)
	}
	return to
}

// usePlugin notes plugin configuration and the files it names.
func (s *statement) usePlugin(t *tree, l *listing, k *kustomization, r ref) {
	data := []byte(r.value)
	if !text(r.value) {
		target := path.Join(k.dir, r.value)
		s.useTarget(t, l, target)
		var err error
		if data, _, err = t.load(target, newTrace()); err != nil {
			return
		}
	}
	for _, p := range pluginFiles(data) {
		if to := s.look(t, path.Join(k.dir, p)); to.err == nil && !to.isDir {
			s.files = append(s.files, to.real)
		}
	}
}
