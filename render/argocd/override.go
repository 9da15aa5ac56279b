package argocd

import (
	"encoding/json"
	"fmt"
	"path"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/tree"
)

// overridesFile is the file in the directory of a source that overrides its options. overridesOf returns the name of
// the file for one Application.
const overridesFile = ".argocd-source.yaml"

func overridesOf(app string) string { return ".argocd-source-" + app + ".yaml" }

// fileError is an error in a file.
type fileError struct {
	path string
	text []byte // nil if it was not read
	err  error
}

func (e *fileError) Error() string { return fmt.Sprintf("%s: %v", path.Base(e.path), e.err) }
func (e *fileError) Unwrap() error { return e.err }

// overrides is a file that overrides options of a source.
type overrides struct {
	path string
	data []byte
}

// override merges the override files in the directory of a source into its options. It returns these files in the order
// of merging. The location of the source cannot be overridden.
func override(t *tree.Tree, s *Source, dir, instance string, trace tree.Trace) (*Source, []overrides, error) {
	merged := *s
	var files []overrides
	for _, name := range []string{path.Join(dir, overridesFile), path.Join(dir, overridesOf(instance))} {
		t.TraceFile(name, trace)
		to := t.Resolve(name)
		if to.Err != nil || to.IsDir {
			continue
		}
		patch, _, err := t.Load(name, trace)
		if err != nil {
			return nil, nil, &fileError{name, nil, err}
		}
		if merged, err = merge(merged, patch); err != nil {
			return nil, nil, &fileError{name, patch, err}
		}
		files = append(files, overrides{to.Real, patch})
	}
	merged.Chart, merged.Path, merged.RepoURL, merged.TargetRevision = s.Chart, s.Path, s.RepoURL, s.TargetRevision
	return &merged, files, nil
}

// merge merges a patch into the options of a source. Like the repository server, it decodes the merged JSON over the
// options: null removes nothing, and list items keep fields of earlier items at the same index that they do not set.
func merge(s Source, patch []byte) (merged Source, err error) {
	data, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(data, &merged)
	}
	if err != nil {
		return merged, err
	}
	if patch, err = yaml.YAMLToJSON(patch); err != nil {
		return merged, err
	}
	if data, err = jsonpatch.MergePatch(data, patch); err != nil {
		return merged, err
	}
	if err = json.Unmarshal(data, &merged); err != nil || s.Kustomize == nil || merged.Kustomize == nil {
		return merged, err
	}
	for i, p := range merged.Kustomize.Patches {
		var over, under map[string]any
		if i >= len(s.Kustomize.Patches) || json.Unmarshal(p, &over) != nil || json.Unmarshal(s.Kustomize.Patches[i], &under) != nil {
			break
		}
		merged.Kustomize.Patches[i] = tree.Encode(completed(over, under))
	}
	return merged, nil
}

// completed returns an object with missing fields taken from another one.
func completed(over, under map[string]any) map[string]any {
	for key, value := range under {
		own, has := over[key]
		inner, isObject := own.(map[string]any)
		before, both := value.(map[string]any)
		switch {
		case !has:
			over[key] = value
		case isObject && both:
			over[key] = completed(inner, before)
		}
	}
	return over
}

// Tool is the tool that renders a source.
type Tool string

// The tools of Argo CD.
const (
	ToolHelm      Tool = "Helm"
	ToolKustomize Tool = "Kustomize"
	ToolDirectory Tool = "Directory"
	ToolPlugin    Tool = "Plugin"
)

// ToolOf returns the tool of a source, without override files; empty if Argo CD refuses the source.
func ToolOf(t *tree.Tree, s *Source, dir string) Tool {
	tool, _ := toolOf(t, s, dir, tree.NewTrace())
	return tool
}

// toolOf returns the tool of a source: the one with options, or else the one for the files in its directory.
func toolOf(t *tree.Tree, s *Source, dir string, trace tree.Trace) (Tool, error) {
	var explicit []Tool
	for _, o := range []struct {
		set  bool
		tool Tool
	}{{s.Kustomize != nil, ToolKustomize}, {s.Helm != nil, ToolHelm}, {s.Directory != nil, ToolDirectory}, {s.Plugin != nil, ToolPlugin}} {
		if o.set {
			explicit = append(explicit, o.tool)
		}
	}
	switch {
	case len(explicit) > 1:
		return "", fmt.Errorf("the source has options of several tools, %s and %s: Argo CD refuses it", explicit[0], explicit[1])
	case len(explicit) == 1:
		return explicit[0], nil
	case s.Chart != "":
		return ToolHelm, nil
	}
	has := func(name string) bool {
		t.TraceFile(path.Join(dir, name), trace)
		to := t.Resolve(path.Join(dir, name))
		return to.Err == nil && !to.IsDir
	}
	for _, name := range tree.KustomizationNames() { // Argo CD also prefers a kustomization to Chart.yaml
		if has(name) {
			return ToolKustomize, nil
		}
	}
	if has("Chart.yaml") {
		return ToolHelm, nil
	}
	return ToolDirectory, nil
}
