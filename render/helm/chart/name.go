package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"

	"sigs.k8s.io/yaml"
)

// maxNameSearch limits how much of an archive is unpacked to find the name of its chart.
const maxNameSearch = 16 << 20

// NameIn returns the name in the Chart.yaml of an archive, which `helm package` puts first; "" if it cannot be
// read.
func NameIn(data []byte) string {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return ""
	}
	for entries := tar.NewReader(io.LimitReader(unzipped, maxNameSearch)); ; {
		header, err := entries.Next()
		if err != nil {
			return ""
		}
		if name, err := inside(header.Name); err != nil || name != "Chart.yaml" {
			continue
		}
		var m struct {
			Name string `json:"name"`
		}
		text, err := io.ReadAll(entries)
		if err != nil || yaml.Unmarshal(text, &m) != nil {
			return ""
		}
		return m.Name
	}
}
