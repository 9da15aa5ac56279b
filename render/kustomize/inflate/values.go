package inflate

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact/overlay"
	"github.com/preadmit/preadmit/render/helm/release"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// given are the values that an entry sets for a chart.
type given struct {
	// files are passed to Helm: the first is kustomize's merge of the values file and the inline values.
	files []values.File
	// layers are the texts that set the values, the one with the highest precedence first.
	layers []layer
}

// layer is a text that sets values: a file of the tree, a file of the chart (with an empty name), or the
// inline values (without data).
type layer struct {
	name   string
	data   []byte
	inline bool
}

// values collects the values as kustomize does.
func (c *Chart) values(of *release.Chart, opts render.Options) (*given, error) {
	base, err := c.base(of, opts)
	if err != nil {
		return nil, err
	}
	g := &given{layers: []layer{base}}
	text := base.data
	if len(c.ValuesInline) > 0 {
		if text, err = c.merged(base.data); err != nil {
			return nil, err
		}
		switch inline := (layer{inline: true}); c.ValuesMerge {
		case "merge":
			g.layers = []layer{base, inline}
		case "replace":
			g.layers = []layer{inline}
		default:
			g.layers = []layer{inline, base}
		}
	}
	g.files = []values.File{{Name: "values of " + c.Name, Data: text}}
	for i, name := range c.AdditionalValuesFiles {
		more, err := c.read(name, opts, "additionalValuesFiles", i)
		if err != nil {
			return nil, err
		}
		g.files = append(g.files, values.File{Name: name, Data: more.data})
		g.layers = append([]layer{more}, g.layers...)
	}
	return g, nil
}

// base returns the values of the file that the entry names, or else those of the chart.
func (c *Chart) base(of *release.Chart, opts render.Options) (layer, error) {
	if c.ValuesFile != "" {
		return c.read(c.ValuesFile, opts, "valuesFile")
	}
	for _, f := range of.Raw {
		if f.Name == "values.yaml" {
			return layer{name: c.ownValues(), data: f.Data}, nil
		}
	}
	return layer{}, errors.New("it has no values.yaml, and kustomize does not do without")
}

// read reads a values file of the tree.
func (c *Chart) read(name string, opts render.Options, field ...any) (layer, error) {
	wrong := func(refused bool, format string, args ...any) error {
		return &fieldError{c.Field(field...), refused, fmt.Errorf(format, args...)}
	}
	if u, err := url.Parse(name); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return layer{}, wrong(true, "%s is not fetched: rendering does not reach the network", build.Quote(name))
	}
	if filepath.IsAbs(name) {
		return layer{}, wrong(false, "%s is not in the repository", build.Quote(name))
	}
	to := c.tree.Resolve(path.Join(c.From.Dir, filepath.ToSlash(name)))
	if to.Err != nil {
		return layer{}, wrong(false, "%s: %w", build.Quote(name), to.Err)
	}
	outside := c.From.Dir != "." && !strings.HasPrefix(to.Real, c.From.Dir+"/")
	if outside && (opts.LoadRestrictor == render.LoadRestrictionsRootOnly || overlay.Under(c.From.Dir)) {
		return layer{}, wrong(false, "%s is outside of %s, where kustomize does not let a kustomization read", name, c.From.Dir)
	}
	data, _, err := c.tree.Load(to.Real, tree.NewTrace())
	if err != nil {
		return layer{}, wrong(false, "%w", err)
	}
	return layer{name: to.Real, data: data}, nil
}

// merged returns kustomize's merge of a values file and the inline values.
func (c *Chart) merged(file []byte) ([]byte, error) {
	if c.ValuesMerge == "replace" {
		return sigsyaml.Marshal(c.ValuesInline)
	}
	under, err := kyaml.Parse(string(file))
	if err != nil {
		return nil, fmt.Errorf("could not parse values file into rnode: %w", err)
	}
	inline, err := kyaml.FromMap(c.ValuesInline)
	if err != nil {
		return nil, c.wrong("valuesInline", "could not parse values inline into rnode: %w", err)
	}
	over := inline
	if c.ValuesMerge == "merge" {
		over, under = under, inline
	}
	merged, err := merge2.Merge(over, under.Copy(), kyaml.MergeOptions{})
	if err != nil {
		return nil, fmt.Errorf("could not merge values: %w", err)
	}
	if merged == nil {
		return nil, nil
	}
	all, err := merged.Map()
	if err != nil {
		return nil, fmt.Errorf("could not parse merged values into map: %w", err)
	}
	return sigsyaml.Marshal(all)
}
