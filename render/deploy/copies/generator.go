// Package copies knows what an ArtifactGenerator of Flux's source-watcher makes artifacts of.
//
// The controller puts the files of an artifact together by copies, each of which is like
// `cp -r`: a directory goes into the one that is named, not in its place. Here a part of a tree
// is looked for that is the same, in another place: then nothing has to be copied.
package copies

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
)

// Generator is an ArtifactGenerator: it makes sources of parts of others.
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

// Source is a source, and what copies call it.
type Source struct {
	Alias     string `json:"alias"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// Artifact is what is made. The revision is that of a source, and nothing of what it has.
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

// Artifact returns the artifact of a name.
func (g *Generator) Artifact(name string) (a Artifact, ok bool) {
	i := slices.IndexFunc(g.Spec.Artifacts, func(a Artifact) bool { return a.Name == name })
	if i < 0 {
		return a, false
	}
	return g.Spec.Artifacts[i], true
}

// MayHoldOthers says why the generator may make artifacts of other names than are written.
func (g *Generator) MayHoldOthers() string {
	if g.Spec.PathPattern != "" {
		return "with a pathPattern, which is not supported"
	}
	return ""
}

// Stopped says why the controller makes nothing of the generator; it is empty if it does.
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

// Source returns the source of an alias.
func (g *Generator) Source(alias string) (s Source, ok bool) {
	i := slices.IndexFunc(g.Spec.Sources, func(s Source) bool { return s.Alias == alias })
	if i < 0 {
		return s, false
	}
	return g.Spec.Sources[i], true
}
