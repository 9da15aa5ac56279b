// Package copies finds the part of a source that an ArtifactGenerator of Flux's source-watcher makes an artifact of.
//
// The controller fills an artifact by copies, each like `cp -r`: a directory is copied into the named one and does not
// replace it. This package instead finds a part of a tree that has the same content at another path, so that nothing
// has to be copied.
package copies

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Generator is an ArtifactGenerator: it makes sources from parts of other sources.
type Generator struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Sources     []Source   `json:"sources"`
		PathPattern string     `json:"pathPattern"`
		Artifacts   []Artifact `json:"artifacts"`
	} `json:"spec"`
}

// Source is a source and its alias.
type Source struct {
	Alias     string `json:"alias"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// Artifact is an artifact to make. Revision refers to a source, whose revision becomes that of the artifact; it has no
// influence on the files.
type Artifact struct {
	Name     string            `json:"name"`
	Revision string            `json:"revision"`
	Copy     []json.RawMessage `json:"copy"`
}

// Parse reads an ArtifactGenerator.
func Parse(data []byte) (*Generator, error) {
	g := &Generator{}
	return g, kjson.UnmarshalCaseSensitivePreserveInts(data, g)
}

// Artifact returns the artifact with a name.
func (g *Generator) Artifact(name string) (a Artifact, ok bool) {
	i := slices.IndexFunc(g.Spec.Artifacts, func(a Artifact) bool { return a.Name == name })
	if i < 0 {
		return a, false
	}
	return g.Spec.Artifacts[i], true
}

// MayHoldOthers returns why the generator may make artifacts with other names than the written ones; empty if it does
// not.
func (g *Generator) MayHoldOthers() string {
	if g.Spec.PathPattern != "" {
		return "with a pathPattern, which is not supported"
	}
	return ""
}

// Stopped returns why the controller does not process the generator; empty if it does.
func (g *Generator) Stopped() string {
	if strings.EqualFold(g.Metadata.Annotations["source.extensions.fluxcd.io/reconcile"], "disabled") {
		return "which is disabled by its annotation, and does not follow the change"
	}
	aliases, names := map[string]bool{}, map[string]bool{}
	for _, s := range g.Spec.Sources {
		if aliases[s.Alias] {
			return fmt.Sprintf("which is not valid: several sources have the alias %q", s.Alias)
		}
		aliases[s.Alias] = true
	}
	for _, a := range g.Spec.Artifacts {
		if names[a.Name] {
			return fmt.Sprintf("which is not valid: several artifacts have the name %q", a.Name)
		}
		if alias := strings.TrimPrefix(a.Revision, "@"); alias != "" && !aliases[alias] {
			return fmt.Sprintf("which is not valid: the revision of the artifact %q is that of an unknown alias %q", a.Name, alias)
		}
		names[a.Name] = true
	}
	return ""
}

// Source returns the source with an alias.
func (g *Generator) Source(alias string) (s Source, ok bool) {
	i := slices.IndexFunc(g.Spec.Sources, func(s Source) bool { return s.Alias == alias })
	if i < 0 {
		return s, false
	}
	return g.Spec.Sources[i], true
}
