package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// FromArchive reads a chart from a gzipped tar archive, as `helm package` makes it.
func FromArchive(data []byte, limits Limits) (*chart.Chart, error) {
	r := &reader{limits: limits.withDefaults()}
	files, err := r.archive(data)
	if err != nil {
		return nil, err
	}
	if files, err = r.unpack(files, 0); err != nil {
		return nil, err
	}
	return load(files)
}

// archive returns the files of an archive, with paths without the first element.
func (r *reader) archive(data []byte) ([]File, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var files []File
	for entries := tar.NewReader(unzipped); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if header.FileInfo().IsDir() || header.Typeflag == tar.TypeXGlobalHeader || header.Typeflag == tar.TypeXHeader {
			continue
		}
		name, err := inside(header.Name)
		if err == nil {
			err = r.add(name, header.Size)
		}
		if err != nil {
			return nil, err
		}
		content := bytes.NewBuffer(make([]byte, 0, header.Size+bytes.MinRead))
		if _, err := content.ReadFrom(entries); err != nil {
			return nil, err
		}
		files = append(files, File{Name: name, Data: bytes.TrimPrefix(content.Bytes(), []byte("\xef\xbb\xbf"))})
	}
	if len(files) == 0 {
		return nil, errors.New("no files in chart archive")
	}
	return files, nil
}

// inside returns the path of an entry in the chart's directory, and an error for an entry that Helm refuses.
func inside(entry string) (string, error) {
	if strings.Contains(entry, `\`) {
		entry = strings.ReplaceAll(entry, `\`, "/")
	}
	dir, name, _ := strings.Cut(entry, "/")
	clean := path.Clean(name)
	switch {
	case dir == "Chart.yaml":
		return "", errors.New("chart yaml not in base directory")
	case path.IsAbs(name), clean == ".", strings.HasPrefix(clean, ".."), len(clean) > 2 && clean[1] == ':' && clean[2] == '/':
		return "", fmt.Errorf("the archive has a file outside the directory of the chart: %q", entry)
	}
	return clean, nil
}
