package chart

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// Limits limit the cost of reading a chart. A zero field means the default.
type Limits struct {
	// Bytes is the size of all files of a chart, archives unpacked. Default 100 MiB, as in Helm.
	Bytes int64
	// FileBytes is the size of one file. Default 5 MiB, as in Helm.
	FileBytes int64
	// Files is the number of files. Default 20,000.
	Files int
	// Depth is how deeply dependencies may be nested. Default 10.
	Depth int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Bytes: cmp.Or(l.Bytes, 100<<20), FileBytes: cmp.Or(l.FileBytes, 5<<20),
		Files: cmp.Or(l.Files, 20_000), Depth: cmp.Or(l.Depth, 10),
	}
}

// LimitError reports that a chart exceeds the limits.
type LimitError struct{ Message string }

func (e *LimitError) Error() string { return e.Message }

// File is a file of a chart.
type File struct {
	// Name is its path from the directory of the chart.
	Name string
	Data []byte
}

// load makes a chart of its files. Archives in charts/ must be unpacked.
func load(files []File) (*chart.Chart, error) {
	var buffered []*archive.BufferedFile
	for _, f := range files {
		buffered = append(buffered, &archive.BufferedFile{Name: f.Name, Data: f.Data})
	}
	c, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, err
	}
	order(c)
	return c, nil
}

// order sorts dependencies, which Helm's loader returns in the order of a map.
func order(c *chart.Chart) {
	dependencies := slices.Clone(c.Dependencies())
	for _, dependency := range dependencies {
		order(dependency)
	}
	slices.SortStableFunc(dependencies, func(a, b *chart.Chart) int {
		return cmp.Or(strings.Compare(a.Name(), b.Name()), strings.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	c.SetDependencies(dependencies...)
}

// reader counts the bytes and files read of a chart.
type reader struct {
	limits Limits
	bytes  int64
	files  int
}

func (r *reader) add(name string, size int64) error {
	r.bytes += size
	r.files++
	switch {
	case size > r.limits.FileBytes:
		return &LimitError{fmt.Sprintf("file %s of the chart has %d bytes, more than the limit of %d", name, size, r.limits.FileBytes)}
	case r.bytes > r.limits.Bytes:
		return &LimitError{fmt.Sprintf("the chart has more than the limit of %d bytes", r.limits.Bytes)}
	case r.files > r.limits.Files:
		return &LimitError{fmt.Sprintf("the chart has more than the limit of %d files", r.limits.Files)}
	}
	return nil
}

// unpack replaces the archives in charts/ with directories of their files.
func (r *reader) unpack(files []File, depth int) ([]File, error) {
	if depth > r.limits.Depth {
		return nil, &LimitError{fmt.Sprintf("the dependencies of the chart are nested more than %d deep", r.limits.Depth)}
	}
	var all []File
	for _, f := range files {
		if path.Dir(f.Name) != "charts" || path.Ext(f.Name) != ".tgz" || strings.HasPrefix(path.Base(f.Name), "_") || strings.HasPrefix(path.Base(f.Name), ".") {
			all = append(all, f)
			continue
		}
		inner, err := r.archive(f.Data)
		if err == nil {
			inner, err = r.unpack(inner, depth+1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, i := range inner {
			// Not `.tgz`, which Helm's loader would unpack itself.
			all = append(all, File{Name: strings.TrimSuffix(f.Name, ".tgz") + unpacked + "/" + i.Name, Data: i.Data})
		}
	}
	return r.unpackNested(all, depth)
}

// unpackNested unpacks archives in the directories of dependencies.
func (r *reader) unpackNested(files []File, depth int) ([]File, error) {
	nested := map[string][]File{}
	var all []File
	for _, f := range files {
		dir, rest, found := strings.Cut(strings.TrimPrefix(f.Name, "charts/"), "/")
		if !found || !strings.HasPrefix(f.Name, "charts/") || strings.HasSuffix(dir, unpacked) {
			all = append(all, f)
			continue
		}
		nested[dir] = append(nested[dir], File{Name: rest, Data: f.Data})
	}
	for dir, files := range nested {
		inner, err := r.unpack(files, depth+1)
		if err != nil {
			return nil, fmt.Errorf("charts/%s: %w", dir, err)
		}
		for _, i := range inner {
			all = append(all, File{Name: "charts/" + dir + "/" + i.Name, Data: i.Data})
		}
	}
	slices.SortStableFunc(all, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
