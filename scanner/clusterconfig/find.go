package clusterconfig

import (
	"bytes"
	"context"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render/tree"
)

// maxFile is the maximum size in bytes of a file that is read. A machine configuration has about 20 KiB.
const maxFile = 256 << 10

// Find returns the settings in the files of a tree, in the order of paths and lines. It omits directories for
// which skip returns true.
func Find(ctx context.Context, t *tree.Tree, skip func(dir string) bool) ([]Setting, error) {
	var all []Setting
	err := fs.WalkDir(t.Fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil: // unreadable files are reported elsewhere
			return nil
		case entry.IsDir():
			if name != "." && (entry.Name() == ".git" || skip(name)) {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || !isYAML(name):
			return nil
		}
		// Most files were read before, and small ones are cached.
		if data, err := t.Read(name); err == nil && len(data) <= maxFile {
			all = append(all, Read(name, data)...)
		}
		return nil
	})
	return all, err
}

// templates are the extensions of templates, before which the extension of the output may stand.
var templates = []string{".j2", ".tmpl", ".tpl", ".gotmpl"}

// isYAML reports whether a file is YAML by its name, or a template of YAML.
func isYAML(name string) bool {
	for _, ext := range templates {
		name = strings.TrimSuffix(name, ext)
	}
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}

// words has texts of which a file that is not an object has at least one.
var words = [][]byte{[]byte("apiServer"), []byte("KubeAPIServerConfig"), []byte("kubelet:v"), []byte("kubernetesVersion"), []byte("kube_version"), []byte("\ntalos:")}

// groups has parts of the apiVersion of objects that configure API servers.
var groups = [][]byte{
	[]byte("cluster.x-k8s.io/"), []byte("kops.k8s.io/"), []byte("eksctl.io/"), []byte("k0sctl.k0sproject.io/"), []byte("core.gardener.cloud/"),
	[]byte("upgrade.cattle.io/"), []byte("tuppr.home-operations.com/"), []byte("kubeadm.k8s.io/"),
}

// mayMatter reports whether a file may configure API servers.
func mayMatter(data []byte) bool {
	has := func(word []byte) bool { return bytes.Contains(data, word) }
	return slices.ContainsFunc(words, has) || slices.ContainsFunc(groups, has)
}

// statement matches statements of a template, filled the values that it inserts.
var (
	statement = regexp.MustCompile(`(?m)^[ \t]*\{[%#].*[%#]\}[ \t]*$`)
	filled    = regexp.MustCompile(`\{\{[^}\n]*\}\}`)
)

// Read returns the settings in a file.
func Read(name string, data []byte) []Setting {
	if !mayMatter(data) {
		return nil
	}
	text := statement.ReplaceAll(data, nil)
	text = filled.ReplaceAll(text, []byte("unknown"))
	all := readText(name, text, slices.Concat(machineFiles, files))
	slices.SortStableFunc(all, func(a, b Setting) int { return a.Line - b.Line })
	return all
}

// readText returns the settings in all documents of a text. known are the files that a document can be.
func readText(name string, text []byte, known []file) []Setting {
	var all []Setting
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		if decoder.Decode(&document) != nil { // the end, or a syntax error, which is reported elsewhere
			return all
		}
		if len(document.Content) == 1 {
			all = append(all, readDocument(name, document.Content[0], known)...)
		}
	}
}

// readDocument returns the settings in a document. The first file that it matches counts.
func readDocument(name string, document *yaml.Node, known []file) []Setting {
	for i := range known {
		if known[i].matches(document) {
			return known[i].read(name, document)
		}
	}
	return nil
}
