package flux

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/tree"
)

// generated is the kustomization that a directory is built with.
type generated struct {
	// path is the path of the file, original its content in the tree, nil if there is none.
	path     string
	original []byte
	data     []byte
	// patches and components are the numbers of entries in the original. The following entries come from the
	// Kustomization object.
	patches, components int
	// added are the indexes in spec.components of these following components.
	added []int
	// images are the indexes in spec.images of the image that added or changed an entry; -1 for none.
	images []int
	// ownImages is the number of images in the original.
	ownImages int
	// files are the patches of the spec as files beside the kustomization, by path, and patchOf their indexes in
	// spec.patches. In a file, each patch has its own line numbers.
	files   map[string][]byte
	patchOf map[string]int
	// listed is set if the directory was searched for manifests.
	listed bool
}

// generate returns the kustomization of a directory, as kustomize-controller generates it: the existing file, or one
// that lists all manifests, with the additions of the spec.
func generate(t *viewed, dir string, s *Spec) (*generated, error) {
	g, err := findOrList(t, dir)
	if err != nil {
		return nil, err
	}
	kus := types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	if err := yaml.Unmarshal(g.data, &kus); err != nil {
		return nil, &syntaxError{g.path, g.data, err}
	}
	if g.original != nil && len(kus.Resources) == 0 {
		kus.BuildMetadata = []string{types.OriginAnnotations} // kustomize refuses an empty kustomization
	}
	g.patches, g.components = len(kus.Patches), len(kus.Components)
	setNames(&kus, s)
	g.addPatches(&kus, t, dir, s)
	if err := g.addComponents(&kus, t, dir, s); err != nil {
		return nil, err
	}
	g.addImages(&kus, s)
	if len(s.BuildMetadata) > 0 {
		kus.BuildMetadata = s.BuildMetadata
	}
	g.data, err = yaml.Marshal(kus)
	g.files[g.path] = g.data
	return g, err
}

// syntaxError is the error of an invalid kustomization file.
type syntaxError struct {
	path string
	text []byte
	err  error
}

func (e *syntaxError) Error() string { return e.err.Error() }

// findOrList returns the kustomization file of a directory, or a generated one with the manifests at and below it.
func findOrList(t *viewed, dir string) (*generated, error) {
	if file, ok := kustomizationIn(t, dir); ok {
		data, _, err := t.tree.Load(file, tree.NewTrace())
		return &generated{path: file, original: data, data: data}, err
	}
	resources, err := manifests(t, dir)
	if err != nil {
		return nil, err
	}
	kus := types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources: resources,
	}
	if len(resources) == 0 {
		kus.Namespace = "_placeholder" // kustomize refuses an empty kustomization
	}
	data, err := yaml.Marshal(kus)
	return &generated{path: path.Join(dir, konfig.DefaultKustomizationFileName()), data: data, listed: true}, err
}

// kustomizationIn returns the kustomization file of a directory.
func kustomizationIn(t *viewed, dir string) (file string, ok bool) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		file := path.Join(dir, name)
		if to := t.tree.Resolve(file); to.Err == nil && !to.IsDir {
			return file, true
		}
	}
	return "", false
}

// manifests returns the YAML files at and below a directory, relative to it, and the directories with a kustomization,
// which are not searched.
func manifests(t *viewed, dir string) ([]string, error) {
	var found []string
	err := fs.WalkDir(t.view, dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == dir:
			return nil
		case entry.IsDir() && isKustomization(t, name):
			found = append(found, relative(dir, name))
			return fs.SkipDir
		case !entry.IsDir() && (path.Ext(name) == ".yaml" || path.Ext(name) == ".yml"):
			found = append(found, relative(dir, name))
		}
		return nil
	})
	return found, err
}

func relative(dir, name string) string {
	if dir == "." {
		return "./" + name
	}
	return "." + strings.TrimPrefix(name, dir)
}

func isKustomization(t *viewed, dir string) bool {
	_, ok := kustomizationIn(t, dir)
	return ok
}

func setNames(kus *types.Kustomization, s *Spec) {
	if s.TargetNamespace != "" {
		kus.Namespace = s.TargetNamespace
	}
	if s.NamePrefix != "" {
		kus.NamePrefix = s.NamePrefix
	}
	if s.NameSuffix != "" {
		kus.NameSuffix = s.NameSuffix
	}
}

// addPatches adds the patches of the spec.
func (g *generated) addPatches(kus *types.Kustomization, t *viewed, dir string, s *Spec) {
	g.files, g.patchOf = map[string][]byte{}, map[string]int{}
	for i, p := range s.Patches {
		text := p.Text()
		if text == "" { // kustomize reports an error for it
			kus.Patches = append(kus.Patches, types.Patch{Target: p.Target.Kustomize()})
			continue
		}
		name := fmt.Sprintf(".spec-patches-%d.yaml", i)
		for t.tree.Resolve(path.Join(dir, name)).Err == nil {
			name = "." + name
		}
		g.files[path.Join(dir, name)], g.patchOf[path.Join(dir, name)] = []byte(text), i
		kus.Patches = append(kus.Patches, types.Patch{Path: name, Target: p.Target.Kustomize()})
	}
}

func (g *generated) addComponents(kus *types.Kustomization, t *viewed, dir string, s *Spec) error {
	for i, component := range s.Components {
		if !isLocal(component) {
			return &fieldError{fmt.Sprintf("spec.components[%d]", i), fmt.Sprintf("component path %q must be local and relative", component)}
		}
		at := path.Join(dir, component)
		switch to := t.tree.Resolve(at); {
		case to.Err != nil && s.IgnoreMissingComponents:
			continue
		case to.Err != nil:
			return &fieldError{fmt.Sprintf("spec.components[%d]", i), fmt.Sprintf("component path %q does not exist: there is no %s", component, at)}
		}
		kus.Components = append(kus.Components, component)
		g.added = append(g.added, i)
	}
	return nil
}

// fieldError is the error of a field of the Kustomization object.
type fieldError struct {
	path    string
	message string
}

func (e *fieldError) Error() string { return e.message }

// isLocal reports whether the path of a component is in the same source.
func isLocal(name string) bool {
	lower := strings.ToLower(name)
	for _, scheme := range []string{"git::", "gh:", "ssh://", "https://", "http://", "git@", "github.com:", "github.com/"} {
		if len(scheme) < len(name) && strings.HasPrefix(lower, scheme) {
			return false
		}
	}
	return !path.IsAbs(name) && !path.IsAbs(strings.TrimPrefix(lower, "file://"))
}

// addImages adds the images of the spec, or changes the entry of the same name. A tag and a digest are replaced
// together.
func (g *generated) addImages(kus *types.Kustomization, s *Spec) {
	g.ownImages = len(kus.Images)
	g.images = slices.Repeat([]int{-1}, g.ownImages)
	for i, image := range s.Images {
		at := slices.IndexFunc(kus.Images, func(have types.Image) bool { return have.Name == image.Name })
		if at < 0 {
			kus.Images = append(kus.Images, image.Kustomize())
			g.images = append(g.images, i)
			continue
		}
		g.images[at] = i
		have := &kus.Images[at]
		if image.NewName != "" {
			have.NewName = image.NewName
		}
		if image.NewTag != "" || image.Digest != "" {
			have.NewTag, have.Digest = image.NewTag, image.Digest
		}
	}
}
