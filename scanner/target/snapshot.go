package target

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
)

// maxHeader bounds the header of a snapshot, in bytes.
const maxHeader = 64 << 10

// CompleteKinds are the kinds of which snapshots of a cluster have all objects: those of the files
// at or below a path whose first document says so (preadmit snapshot). A path that is not
// there has none.
func CompleteKinds(tree fs.FS, name string) ([]schema.GroupKind, error) {
	var all []schema.GroupKind
	err := fs.WalkDir(tree, path.Clean(name), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml" {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		kinds, err := headerKinds(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, kinds...)
		return nil
	})
	return all, err
}

// headerKinds are those of a file's header; none if it has no header.
func headerKinds(data []byte) ([]schema.GroupKind, error) {
	if !bytes.HasPrefix(data, []byte("apiVersion: "+report.APIVersion+"\n")) {
		return nil, nil
	}
	first, _, _ := bytes.Cut(data[:min(len(data), maxHeader)], []byte("\n---"))
	var header struct {
		Kind     string   `json:"kind"`
		Complete []string `json:"complete"`
	}
	if err := yaml.Unmarshal(first, &header); err != nil {
		return nil, err
	}
	if header.Kind != config.SnapshotKind {
		return nil, nil
	}
	var kinds []schema.GroupKind
	for _, name := range header.Complete {
		kinds = append(kinds, schema.ParseGroupKind(name))
	}
	return kinds, nil
}

// complete are the kinds of which a target has all objects: as configured, and by the snapshots
// among its context. Of a change those at the base count: a change may not say that what it
// lacks does not exist.
func (b *builder) complete(c config.Target) ([]schema.GroupKind, error) {
	all := slices.Concat(c.Kinds(), b.whole)
	tree := b.Head.Files
	if b.Base != nil {
		tree = b.Base.Files
	}
	for _, p := range slices.Concat(c.Context, b.config.Context) {
		kinds, err := CompleteKinds(tree, p)
		if err != nil {
			return nil, fmt.Errorf("read the snapshot in %s: %w", p, err)
		}
		all = append(all, kinds...)
	}
	return all, nil
}
