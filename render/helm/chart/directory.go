package chart

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/ignore"

	"github.com/preadmit/preadmit/render/tree"
)

// FromTree reads the chart in a directory of a tree, without the files that .helmignore excludes. Links are
// followed within the tree.
func FromTree(t *tree.Tree, dir string, limits Limits) (*chart.Chart, error) {
	r := &reader{limits: limits.withDefaults()}
	d := &directory{tree: t, top: dir, reader: r, rules: ignore.Empty()}
	if data, err := d.read(".helmignore"); err == nil {
		rules, err := ignore.Parse(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		d.rules = rules
	}
	d.rules.AddDefaults()
	if err := d.walk("", 0); err != nil {
		return nil, err
	}
	files, err := r.unpack(d.files, 0)
	if err != nil {
		return nil, err
	}
	return load(files)
}

// directory reads the files of a chart from a tree.
type directory struct {
	tree   *tree.Tree
	top    string
	reader *reader
	rules  *ignore.Rules
	files  []File
}

// maxDirectories limits how deeply directories of a chart may be nested: a link may lead up.
const maxDirectories = 50

// walk adds the files below a directory, whose name is empty or ends with a slash.
func (d *directory) walk(dir string, depth int) error {
	at := d.tree.Resolve(path.Join(d.top, dir))
	if at.Err != nil {
		return at.Err
	}
	if depth > maxDirectories {
		return &LimitError{"the directories of the chart are nested more than 50 deep"}
	}
	entries, err := fs.ReadDir(d.tree.Fsys, at.Real)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		if err := d.entry(dir+entry.Name(), depth); err != nil {
			return err
		}
	}
	return nil
}

func (d *directory) entry(name string, depth int) error {
	to := d.tree.Resolve(path.Join(d.top, name))
	if to.Err != nil {
		return to.Err
	}
	info, err := d.tree.Lstat(to.Real)
	if err != nil {
		return err
	}
	switch {
	case d.rules.Ignore(name, info):
		return nil
	case to.IsDir:
		return d.walk(name+"/", depth+1)
	}
	data, err := d.read(name)
	if err != nil {
		return err
	}
	d.files = append(d.files, File{Name: name, Data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))})
	return nil
}

// read reads a file of the chart.
func (d *directory) read(name string) ([]byte, error) {
	to := d.tree.Resolve(path.Join(d.top, name))
	if to.Err != nil {
		return nil, to.Err
	}
	data, err := d.tree.Read(to.Real)
	if err != nil {
		return nil, err
	}
	return data, d.reader.add(name, int64(len(data)))
}
