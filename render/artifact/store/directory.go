package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"

	"github.com/preadmit/preadmit/render/artifact"
)

// IndexName is the name of the list of charts in a directory.
const IndexName = "index.json"

// Indexed is an entry of the list: the archive of a chart, and the URL, name and version of requests for it.
type Indexed struct {
	// Source is the URL of the Helm repository or, for oci://, of the repository that contains the chart, or a prefix
	// of it.
	Source string `json:"source"`
	Name   string `json:"name"`
	// Version is the version of the chart. RequestedVersion is the version in requests, such as a range.
	Version          string `json:"version"`
	RequestedVersion string `json:"requestedVersion,omitempty"`
	// File is the name of the archive in the directory.
	File string `json:"file"`
	// Digest is the SHA-256 of the archive in hex. It may be empty.
	Digest string `json:"sha256,omitempty"`
}

// Directory returns charts from a directory with archives and a list of them. It implements artifact.Contents.
type Directory struct {
	dir     string
	entries map[artifact.Artifact]Indexed

	mu    sync.Mutex
	files map[string]content
}

// content is the result of reading a file.
type content struct {
	data []byte
	pin  artifact.Pin
	err  error
}

var _ artifact.Contents = (*Directory)(nil)

// maxIndex is the maximum size of a list, in bytes.
const maxIndex = 16 << 20

// OpenDirectory reads the list of a directory of charts.
func OpenDirectory(dir string) (*Directory, error) {
	data, err := readFile(filepath.Join(dir, IndexName), maxIndex)
	if err != nil {
		return nil, err
	}
	var list []Indexed
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: want a list of charts, each with source, name, version and file: %w", filepath.Join(dir, IndexName), err)
	}
	d := &Directory{dir: dir, entries: map[artifact.Artifact]Indexed{}, files: map[string]content{}}
	for i, entry := range list {
		if entry.Source == "" || entry.Name == "" || entry.File == "" || !filepath.IsLocal(filepath.FromSlash(entry.File)) {
			return nil, fmt.Errorf("%s: entry %d needs a source, a name, and a file in the directory", filepath.Join(dir, IndexName), i+1)
		}
		for _, key := range entry.keys() {
			if _, ok := d.entries[key]; !ok {
				d.entries[key] = entry
			}
		}
	}
	return d, nil
}

// keys returns the artifacts, as returned by chartKey, that an entry provides.
func (e Indexed) keys() []artifact.Artifact {
	places := []artifact.Artifact{{Kind: artifact.Chart, URL: e.Source, Name: e.Name}}
	if strings.HasPrefix(e.Source, "oci://") && path.Base(e.Source) == path.Base(e.Name) { // the repository itself
		places = append(places, artifact.Artifact{Kind: artifact.Chart, URL: strings.TrimSuffix(e.Source, "/"+path.Base(e.Source)), Name: path.Base(e.Name)})
	}
	var keys []artifact.Artifact
	for _, place := range places {
		for _, version := range []string{e.RequestedVersion, e.Version} {
			if version != "" {
				place.Version = version
				keys = append(keys, chartKey(place))
			}
		}
	}
	return keys
}

// chartKey normalizes a chart for look-ups: slashes at the end of the URL do not matter, nor how an OCI reference is
// split into URL and name, nor whether a version is written as 1.2.0+build.3 or as the OCI tag 1.2.0_build.3. An empty
// version matches any.
func chartKey(a artifact.Artifact) artifact.Artifact {
	a.URL = strings.TrimRight(a.URL, "/")
	if strings.HasPrefix(a.URL, "oci://") {
		a.URL, a.Name, a.Version = a.URL+"/"+a.Name, "", strings.ReplaceAll(a.Version, "_", "+")
	}
	if a.Version == "" {
		a.Version = "*"
	}
	return a
}

// find returns the entry for a chart: the one with the same request, or else the newest version in the requested range.
// Of several builds of a version, it is the last in lexical order.
func (d *Directory) find(a artifact.Artifact) (newest Indexed, ok bool) {
	key := chartKey(a)
	if entry, ok := d.entries[key]; ok {
		return entry, true
	}
	in, err := semver.NewConstraint(key.Version)
	if err != nil {
		return newest, false
	}
	var best *semver.Version
	for other, entry := range d.entries {
		if other.URL != key.URL || other.Name != key.Name {
			continue
		}
		v, err := semver.NewVersion(entry.Version)
		if err != nil || !in.Check(v) {
			continue
		}
		if best == nil || v.GreaterThan(best) || v.Compare(best) == 0 && entry.Version > newest.Version { // versions that differ only in the build
			best, newest = v, entry
		}
	}
	return newest, best != nil
}

// Tree implements artifact.Contents. A Directory only has charts.
func (d *Directory) Tree(a artifact.Artifact) (fs.FS, artifact.Pin, error) {
	return nil, artifact.Pin{}, d.missing(a)
}

// Bytes implements artifact.Contents.
func (d *Directory) Bytes(a artifact.Artifact) ([]byte, artifact.Pin, error) {
	entry, ok := d.find(a)
	if a.Kind != artifact.Chart || !ok {
		return nil, artifact.Pin{}, d.missing(a)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	key := entry.File + " " + entry.Digest
	known, ok := d.files[key]
	if !ok {
		known = d.read(entry)
		d.files[key] = known
	}
	if errors.Is(known.err, fs.ErrNotExist) {
		return nil, artifact.Pin{}, &artifact.MissingError{Artifact: a, Why: fmt.Sprintf("%s lists %s, which is not in %s", IndexName, entry.File, d.dir)}
	}
	return known.data, known.pin, known.err
}

func (d *Directory) read(entry Indexed) content {
	data, err := readFile(filepath.Join(d.dir, filepath.FromSlash(entry.File)), maxContent)
	if err != nil {
		return content{err: err}
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	if entry.Digest != "" && entry.Digest != digest {
		return content{err: fmt.Errorf("%s has the SHA-256 %s, and %s has %s", filepath.Join(d.dir, entry.File), digest, IndexName, entry.Digest)}
	}
	return content{data: data, pin: artifact.Pin{Version: entry.Version, Digest: "sha256:" + digest, Size: int64(len(data))}}
}

func (d *Directory) missing(a artifact.Artifact) error {
	return &artifact.MissingError{
		Artifact: a, Why: fmt.Sprintf("%s does not list it", filepath.Join(d.dir, IndexName)),
		Hint: "add the archive to the directory and to the list",
	}
}

// Artifacts implements artifact.Contents.
func (d *Directory) Artifacts() []artifact.Artifact {
	var all []artifact.Artifact
	for key := range d.entries {
		all = append(all, key)
	}
	slices.SortFunc(all, artifact.Artifact.Compare)
	return all
}

// readFile reads a file of at most most bytes.
func readFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = &TooLargeError{most}
	}
	return data, err
}

// First returns contents from the first of several that has them. If none has, the error is that of the last one.
type First []artifact.Contents

var _ artifact.Contents = First(nil)

// Tree implements artifact.Contents.
func (f First) Tree(a artifact.Artifact) (tree fs.FS, pin artifact.Pin, err error) {
	for _, c := range f {
		if tree, pin, err = c.Tree(a); !isMissing(err) {
			return tree, pin, err
		}
	}
	return tree, pin, err
}

// Bytes implements artifact.Contents.
func (f First) Bytes(a artifact.Artifact) (data []byte, pin artifact.Pin, err error) {
	for _, c := range f {
		if data, pin, err = c.Bytes(a); !isMissing(err) {
			return data, pin, err
		}
	}
	return data, pin, err
}

func isMissing(err error) bool {
	return errors.As(err, new(*artifact.MissingError))
}

// Artifacts implements artifact.Contents.
func (f First) Artifacts() []artifact.Artifact {
	var all []artifact.Artifact
	for _, c := range f {
		all = append(all, c.Artifacts()...)
	}
	slices.SortFunc(all, artifact.Artifact.Compare)
	return slices.Compact(all)
}
