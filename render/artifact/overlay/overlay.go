// Package overlay adds the contents of artifacts to a tree as files: each artifact has a directory, named after it,
// below the directory @artifacts. Listings do not contain that directory, and links in it cannot leave their artifact.
package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/tree"
)

// Top is the directory that contains all artifacts.
const Top = "@artifacts"

// Under reports whether a path is in an artifact.
func Under(name string) bool { return name == Top || strings.HasPrefix(name, Top+"/") }

// New returns a tree with artifacts. It has git's names of its files if the tree has.
func New(under fs.FS, contents artifact.Contents) fs.FS { return newOverlay(under, contents, false) }

// WithCharts returns a tree with charts and no other artifacts.
func WithCharts(under fs.FS, contents artifact.Contents) fs.FS {
	return newOverlay(under, contents, true)
}

func newOverlay(under fs.FS, contents artifact.Contents, chartsOnly bool) fs.FS {
	o := &overlay{chartsOnly: chartsOnly, FS: under, contents: contents, mounted: map[string]artifact.Artifact{}, above: map[string]bool{Top: true}}
	o.links, _ = under.(fs.ReadLinkFS)
	for _, a := range contents.Artifacts() {
		if a.Kind == artifact.Chart {
			continue
		}
		dir := dirOf(a)
		o.mounted[dir] = a
		if a.Kind == artifact.Git {
			a.Submodules = true
			o.mounted[dirOf(a)] = a
		}
		for dir = path.Dir(dir); dir != "."; dir = path.Dir(dir) {
			o.above[dir] = true
		}
	}
	if named, ok := under.(names); ok {
		return &namedOverlay{o, named}
	}
	if known, ok := under.(submodules); ok {
		return &submoduleOverlay{o, known}
	}
	return o
}

// overlay is a tree with artifacts. It is immutable.
type overlay struct {
	fs.FS
	links    fs.ReadLinkFS // nil when the tree has no symbolic links
	contents artifact.Contents
	// chartsOnly is set when other artifacts than charts are not supported.
	chartsOnly bool
	// mounted maps directories to their artifacts. above is the set of the directories above these.
	mounted map[string]artifact.Artifact
	above   map[string]bool
	// whole caches trees with submodules, by artifact.
	whole sync.Map
}

var _ fs.ReadLinkFS = (*overlay)(nil)

// dirOf returns the directory of an artifact. Different artifacts have different directories, and none contains
// another: only the last element of each path ends with an @ and a version.
func dirOf(a artifact.Artifact) string {
	url := a.URL
	for _, scheme := range []string{"https://", "oci://"} {
		url = strings.TrimPrefix(url, scheme)
	}
	var parts []string
	for part := range strings.SplitSeq(url, "/") {
		if part == "" {
			part = "%" // "%" is escaped in other elements
		} else {
			part = escape(part)
		}
		parts = append(parts, part)
	}
	if a.Kind == artifact.OCI {
		parts = append([]string{"oci:"}, parts...)
	}
	last := "@" + escape(a.Version)
	if a.Submodules {
		last += "@submodules"
	}
	return path.Join(Top, strings.Join(parts, "/")+last)
}

// escape returns a text as an element of a path, reversibly. It escapes consecutive dots, which kustomize does not
// accept.
func escape(text string) string {
	text = strings.NewReplacer("%", "%25", "@", "%40", "/", "%2F", "..", "%2E%2E", "\\", "%5C", " ", "%20").Replace(text)
	if text == "." {
		return "%2E"
	}
	return text
}

// fileName returns the name of the single file of a File artifact: that of its URL, which generators use as a key.
func fileName(a artifact.Artifact) string {
	name := path.Base(a.URL)
	if !fs.ValidPath(name) || name == "." {
		return "file"
	}
	return name
}

var errTaken = errors.New("the repository has a directory " + Top + ", where the artifacts would be: rename it")

// Mount returns the directory of an artifact, or the path of a file.
func (o *overlay) Mount(a artifact.Artifact) (string, error) {
	if o.chartsOnly {
		return "", tree.ErrNoArtifacts
	}
	if _, err := fs.Stat(o.FS, Top); !errors.Is(err, fs.ErrNotExist) {
		return "", errTaken
	}
	dir := dirOf(a)
	if a.Kind == artifact.File {
		_, _, err := o.contents.Bytes(a)
		return path.Join(dir, fileName(a)), err
	}
	tree, _, err := o.contents.Tree(a.Plain())
	if err == nil && a.Submodules {
		if whole, ok := tree.(repository); !ok || len(whole.Submodules()) == 0 {
			return dirOf(a.Plain()), nil
		}
		_, err = o.withSubmodules(a)
	}
	return dir, err
}

// within returns the tree of the artifact that contains a path, and the path in it. below is false for paths of the
// repository. at is nil for a directory above artifacts.
func (o *overlay) within(name string) (at fs.FS, rest string, below bool, err error) {
	if !Under(name) {
		return nil, "", false, nil
	}
	if o.above[name] {
		return nil, "", true, nil
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		a, ok := o.mounted[dir]
		if !ok {
			continue
		}
		rest = "."
		if dir != name {
			rest = name[len(dir)+1:]
		}
		if a.Kind == artifact.File {
			data, _, err := o.contents.Bytes(a)
			return memfs.OneFile(fileName(a), data), rest, true, err
		}
		if a.Submodules {
			at, err = o.withSubmodules(a)
		} else {
			at, _, err = o.contents.Tree(a)
		}
		return at, rest, true, err
	}
	return nil, "", true, fs.ErrNotExist
}

// Open implements fs.FS.
func (o *overlay) Open(name string) (fs.File, error) {
	at, rest, below, err := o.within(name)
	switch {
	case !below:
		return o.FS.Open(name)
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	case at == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("is a directory")}
	}
	return at.Open(rest)
}

// ReadDir implements fs.ReadDirFS.
func (o *overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	at, rest, below, err := o.within(name)
	switch {
	case !below:
		return fs.ReadDir(o.FS, name)
	case err != nil:
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	case at == nil:
		return nil, nil
	}
	return fs.ReadDir(at, rest)
}

// ReadFile implements fs.ReadFileFS.
func (o *overlay) ReadFile(name string) ([]byte, error) {
	at, rest, below, err := o.within(name)
	switch {
	case !below:
		return fs.ReadFile(o.FS, name)
	case err != nil || at == nil:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.Join(err, fs.ErrInvalid)}
	}
	return fs.ReadFile(at, rest)
}

// Stat implements fs.StatFS.
func (o *overlay) Stat(name string) (fs.FileInfo, error) {
	if !Under(name) {
		return fs.Stat(o.FS, name)
	}
	return o.about(name, fs.Stat)
}

// Lstat implements fs.ReadLinkFS.
func (o *overlay) Lstat(name string) (fs.FileInfo, error) {
	if Under(name) {
		return o.about(name, lstat)
	}
	return lstat(o.FS, name)
}

func (o *overlay) about(name string, stat func(fs.FS, string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	at, rest, _, err := o.within(name)
	switch {
	case err != nil:
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	case at == nil:
		return memfs.NewInfo(name, fs.ModeDir|0o755, 0), nil
	}
	return stat(at, rest)
}

func lstat(fsys fs.FS, name string) (fs.FileInfo, error) {
	if links, ok := fsys.(fs.ReadLinkFS); ok {
		return links.Lstat(name)
	}
	return fs.Stat(fsys, name)
}

// ReadLink implements fs.ReadLinkFS.
func (o *overlay) ReadLink(name string) (string, error) {
	at, rest, below, err := o.within(name)
	if !below {
		at, rest = o.links, name
	}
	links, ok := at.(fs.ReadLinkFS)
	if err != nil || !ok || links == nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: errors.Join(err, fs.ErrInvalid)}
	}
	return links.ReadLink(rest)
}

// names is a tree with git's names of its files and directories.
type names interface {
	submodules
	ObjectID(name string) (string, error)
	TreeID(name string) (string, error)
}

type submodules interface {
	Submodule(name string) (commit string, ok bool)
}

// submoduleOverlay is an overlay of a tree with submodules.
type submoduleOverlay struct {
	*overlay
	under submodules
}

// Submodule returns the commit of a submodule of the tree.
func (o *submoduleOverlay) Submodule(name string) (string, bool) { return o.under.Submodule(name) }

// namedOverlay is an overlay of a tree with git's names.
type namedOverlay struct {
	*overlay
	under names
}

// Submodule returns the commit of a submodule of the tree.
func (o *namedOverlay) Submodule(name string) (string, bool) { return o.under.Submodule(name) }

// ObjectID returns git's name of a file or symbolic link.
func (o *namedOverlay) ObjectID(name string) (string, error) {
	if !Under(name) {
		return o.under.ObjectID(name)
	}
	info, err := o.Lstat(name)
	if err != nil {
		return "", err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := o.ReadLink(name)
		return tree.ObjectID([]byte(target)), err
	}
	data, err := o.ReadFile(name)
	if err != nil {
		return "", err
	}
	return tree.ObjectID(data), nil
}

// TreeID returns git's name of a directory. Directories of artifacts have none.
func (o *namedOverlay) TreeID(name string) (string, error) {
	if Under(name) {
		return "", fmt.Errorf("%s has no name", name)
	}
	return o.under.TreeID(name)
}

// Bytes returns the content of an artifact that is not a directory, such as a chart.
func (o *overlay) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) {
	return o.contents.Bytes(a)
}
