package engine

import (
	"encoding/base64"
	"path"
	"strings"

	"github.com/gobwas/glob"
	"helm.sh/helm/v4/pkg/chart/common"
)

// files are the files of a chart that are no templates: `.Files`.
type files map[string][]byte

func newFiles(from []*common.File) files {
	all := files{}
	for _, f := range from {
		all[f.Name] = f.Data
	}
	return all
}

// GetBytes returns the content of a file; empty if it does not exist.
func (f files) GetBytes(name string) []byte {
	if data, ok := f[name]; ok {
		return data
	}
	return []byte{}
}

// Get returns the content of a file as text.
func (f files) Get(name string) string { return string(f.GetBytes(name)) }

// maxGlob limits the length of patterns: their alternatives multiply.
const maxGlob = 1_000

// Glob returns the files whose paths match a pattern; all if the pattern is invalid.
func (f files) Glob(pattern string) (files, error) {
	if len(pattern) > maxGlob || strings.Count(pattern, "{") > 10 {
		return nil, exceeded("the pattern is longer than %d bytes or has more than 10 braces", maxGlob)
	}
	matcher, err := glob.Compile(pattern, '/')
	if err != nil {
		matcher = glob.MustCompile("**")
	}
	matching := files{}
	for name, data := range f {
		if matcher.Match(name) {
			matching[name] = data
		}
	}
	return matching, nil
}

// AsConfig returns the files as the data of a ConfigMap.
func (f files) AsConfig() string { return f.data(func(data []byte) string { return string(data) }) }

// AsSecrets returns the files as the data of a Secret.
func (f files) AsSecrets() string { return f.data(base64.StdEncoding.EncodeToString) }

// data returns the files as YAML, by the last elements of their paths.
func (f files) data(encode func([]byte) string) string {
	if f == nil {
		return ""
	}
	byBase := map[string]string{}
	for _, name := range sortedKeys(f) {
		byBase[path.Base(name)] = encode(f[name])
	}
	return toYAML(byBase)
}

// Lines returns the lines of a file.
func (f files) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}
