package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
)

// Header is the first document of a snapshot.
type Header struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// Taken is the time of the snapshot, Server the host, and Version the server's version.
	Taken   time.Time `json:"taken"`
	Server  string    `json:"server"`
	Version string    `json:"version"`
	// Complete are the kinds, as KIND or KIND.GROUP, of which it has all objects.
	Complete []string `json:"complete"`
}

// Metadata is the metadata of a header, which has the form of a Kubernetes object.
type Metadata struct {
	Name string `json:"name"`
}

func newHeader(server, version string, taken time.Time) Header {
	return Header{
		APIVersion: report.APIVersion, Kind: config.SnapshotKind, Metadata: Metadata{"cluster"},
		Server: server, Version: version, Taken: taken.UTC().Truncate(time.Second), Complete: []string{},
	}
}

// ReadHeader returns the header of a snapshot.
func ReadHeader(data []byte) (*Header, error) {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(data, []byte("---\n")), []byte("\n---"))
	h := &Header{}
	if err := yaml.UnmarshalStrict(first, h); err != nil || h.Kind != config.SnapshotKind || h.APIVersion != report.APIVersion {
		return nil, fmt.Errorf("it does not begin with a %s: preadmit snapshot writes such files", config.SnapshotKind)
	}
	if h.Taken.IsZero() {
		return nil, errors.New("it does not say when it was taken")
	}
	return h, nil
}
