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

// CompleteKinds returns the kinds of which snapshots of a cluster (preadmit snapshot) have all
// objects: those that the first documents of files at or below a path list. It is empty for a path
// that does not exist.
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

// headerKinds returns the kinds that a file's header lists; none if it has no header.
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

// complete returns the kinds of which all objects of a target are known: those that are configured,
// and those of the snapshots in its context. With a base, the base's snapshots count: a change must
// not declare that missing objects do not exist.
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
