package store

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Pack writes a tree as a tar archive: non-empty directories, files, links that do not lead out of the tree, and
// submodules, in lexical order, without times, modes and owners. Equal trees are packed to equal bytes.
func Pack(w io.Writer, tree fs.FS, limits Limits) error {
	p := &packer{tree: tree, out: tar.NewWriter(w), limits: limits.withDefaults()}
	if err := fs.WalkDir(tree, ".", p.entry); err != nil {
		return err
	}
	return p.out.Close()
}

type packer struct {
	tree    fs.FS
	out     *tar.Writer
	limits  Limits
	entries int
	bytes   int64
}

func (p *packer) entry(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case d.IsDir():
		return nil
	case d.Type()&fs.ModeSymlink != 0:
		return p.link(name)
	case !d.Type().IsRegular():
		return p.submodule(name)
	}
	data, err := fs.ReadFile(p.tree, name)
	if err != nil {
		return err
	}
	if err := p.count(name, int64(len(data))); err != nil {
		return err
	}
	if err := p.out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644}); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	_, err = p.out.Write(data)
	return err
}

func (p *packer) link(name string) error {
	links, ok := p.tree.(fs.ReadLinkFS)
	if !ok {
		return nil
	}
	target, err := links.ReadLink(name)
	if err != nil || !inside(name, target) {
		return err
	}
	if err := p.count(name, 0); err != nil {
		return err
	}
	return p.out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777})
}

// submodules is a tree with git submodules.
type submodules interface {
	Submodule(name string) (commit string, ok bool)
	SubmoduleURL(name string) string
}

// The PAX records of a directory that is a submodule.
const (
	recordCommit = "PREADMIT.submodule"
	recordURL    = "PREADMIT.url"
)

// submodule writes an empty directory, which is also what git checks out for a submodule by default.
func (p *packer) submodule(name string) error {
	known, ok := p.tree.(submodules)
	if !ok {
		return nil
	}
	commit, ok := known.Submodule(name)
	if !ok {
		return nil
	}
	if err := p.count(name, 0); err != nil {
		return err
	}
	records := map[string]string{recordCommit: commit}
	if url := known.SubmoduleURL(name); url != "" && !strings.ContainsRune(url, 0) {
		records[recordURL] = url
	}
	return p.out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, PAXRecords: records})
}

// count returns an error for an entry with which the archive could not be opened again.
func (p *packer) count(name string, size int64) error {
	if p.entries++; p.entries > p.limits.Entries {
		return refuse("it has more than %d entries", p.limits.Entries)
	}
	if size > p.limits.FileBytes {
		return refuse("%s has more than %d bytes", name, p.limits.FileBytes)
	}
	if p.bytes += size; p.bytes > p.limits.Bytes {
		return refuse("its files have more than %d bytes", p.limits.Bytes)
	}
	_, err := entryName(name)
	return err
}
