package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/internal/strictyaml"
	"github.com/preadmit/preadmit/scanner/admission"
)

// Load reads the suite at the top of a file system. Paths of policies must be inside of it.
func Load(fsys fs.FS) (*Suite, error) {
	return (&loader{fsys: fsys, dir: "."}).load()
}

// Open reads the suite of a directory. Mistakes in its files are *strictyaml.Error, joined.
func Open(dir string) (*Suite, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	top := filepath.VolumeName(absolute) + string(filepath.Separator)
	inside, err := filepath.Rel(top, absolute)
	if err != nil {
		return nil, err
	}
	l := &loader{fsys: os.DirFS(top), dir: filepath.ToSlash(inside), shown: filepath.ToSlash(filepath.Clean(dir))}
	s, err := l.load()
	if err != nil {
		return nil, err
	}
	s.Dir = l.shown
	return s, nil
}

// loader reads the suite in dir of a file system.
type loader struct {
	fsys fs.FS
	dir  string
	// shown is the name of dir in messages.
	shown string
	// places are the places of the objects that were read.
	places map[*admission.Object]place
}

// show returns the name of a file of the suite for messages.
func (l *loader) show(name string) string { return path.Join(l.shown, name) }

func (l *loader) load() (*Suite, error) {
	s := &Suite{}
	l.places = map[*admission.Object]place{}
	data, err := l.read(RequestsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &strictyaml.Error{Path: l.show(RequestsFile), Message: "there is no such file: a suite needs one"}
	case err != nil:
		return nil, err
	}
	f, document, err := readRequests(l.show(RequestsFile), data)
	if err != nil {
		return nil, err
	}
	s.Requests = document.Requests
	if err := l.checkFiles(); err != nil {
		return nil, err
	}
	var errs [3]error
	s.Context, errs[0] = l.optionalObjects(ContextFile)
	s.Policies, errs[1] = l.policies(f, document.Policies)
	s.Expected, errs[2] = l.expected(s.Requests)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	s.places = l.places
	if err := l.checkState(s); err != nil {
		return nil, err
	}
	return s, nil
}

// checkFiles refuses files with the name of a file of a suite but another extension: a suite without its
// policies or expected verdicts would pass.
func (l *loader) checkFiles() error {
	files, err := fs.ReadDir(l.fsys, l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // an fs.FS may have files without listing directories
		return fmt.Errorf("read %s: %w", l.shown, err)
	}
	var errs []error
	for _, name := range []string{PoliciesFile, ContextFile, ExpectedFile} {
		if other := otherwise(files, name); other != "" && !has(files, name) {
			errs = append(errs, &strictyaml.Error{Path: l.show(other), Message: "is not read: its name has to be " + name})
		}
	}
	return errors.Join(errs...)
}

// otherwise returns the entry with the name of a file of a suite but another extension; empty if there
// is none.
func otherwise(entries []fs.DirEntry, name string) string {
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, other := range []string{stem + ".yml", stem + ".json"} {
		if has(entries, other) {
			return other
		}
	}
	return ""
}

// read reads a file of the suite. Errors have the user's name of the file.
func (l *loader) read(name string) ([]byte, error) {
	data, err := fs.ReadFile(l.fsys, path.Join(l.dir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		reason := err
		if p := new(fs.PathError); errors.As(err, &p) {
			reason = p.Err
		}
		return nil, &strictyaml.Error{Path: l.show(name), Message: fmt.Sprintf("cannot be read: %v", reason)}
	}
	return data, err
}

func (l *loader) expected(requests []Request) (*Expected, error) {
	data, err := l.read(ExpectedFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return readExpected(l.show(ExpectedFile), data, requests)
}

// Find returns the directories with suites: dir itself and those below it at any depth, sorted by name,
// without hidden directories and those with a name in skip. The error is a *strictyaml.Error if there is
// no suite, or if a directory has the files of a suite but no requests.
func Find(dir string, skip ...string) ([]string, error) {
	tree := os.DirFS(dir)
	var found []string
	var errs []error
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir():
			return nil
		case name != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains(skip, entry.Name())):
			return fs.SkipDir
		}
		files, err := fs.ReadDir(tree, name)
		if err != nil {
			return err
		}
		shown := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case has(files, RequestsFile):
			found = append(found, shown)
		case (has(files, ExpectedFile) || otherwise(files, RequestsFile) != "") && (has(files, PoliciesFile) || has(files, ContextFile)),
			otherwise(files, RequestsFile) != "" && has(files, ExpectedFile):
			errs = append(errs, &strictyaml.Error{Path: filepath.ToSlash(filepath.Join(shown, RequestsFile)), Message: "there is no such file: a suite needs one"})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for suites: %w", err)
	}
	if len(found)+len(errs) == 0 {
		return nil, &strictyaml.Error{Path: filepath.ToSlash(filepath.Clean(dir)), Message: "no suite here or below: a suite is a directory with " + RequestsFile}
	}
	return found, errors.Join(errs...)
}

func has(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && !e.IsDir() })
}
