package argocd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree"
)

// edited is a kustomization file after `kustomize edit` with the options of an Application.
type edited struct {
	*part
	file string
	data []byte
	top  *yaml.Node
	// fields maps added nodes to the fields of the Application that they come from.
	fields map[*yaml.Node]string
	lines  map[int]*yaml.Node
}

// optionError is the error of an option of an Application.
type optionError struct {
	field   string
	message string
}

func (e *optionError) Error() string { return e.message }

func (p *part) editProblem(file string, data []byte, err error) *render.Problem {
	var option *optionError
	if errors.As(err, &option) {
		return p.failed(p.field("kustomize."+option.field), err)
	}
	return p.inFile(file, tree.ErrorLineIn(data, err), err.Error(), p.field(""))
}

// edit applies the options of a source in the same order as Argo CD.
func edit(p *part, file string, data []byte) (*edited, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the kustomization file is no mapping")
	}
	tree.NewParserLines(string(data)).Move(&doc)
	e := &edited{part: p, file: file, top: doc.Content[0], fields: map[*yaml.Node]string{}}
	o := p.source.Kustomize
	e.setText("namePrefix", o.NamePrefix)
	e.setText("nameSuffix", o.NameSuffix)
	for _, step := range []func(*Kustomize) error{e.images, e.replicas, e.labels, e.annotations} {
		if err := step(o); err != nil {
			return nil, err
		}
	}
	e.setText("namespace", o.Namespace)
	for _, step := range []func(*Kustomize) error{e.patches, e.components} {
		if err := step(o); err != nil {
			return nil, err
		}
	}
	return e, e.encode(&doc)
}

// text returns a scalar with a value from a field of the Application.
func (e *edited) text(value, field string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.DoubleQuotedStyle} // quoted, because kustomize reads `yes` as a boolean
	e.fields[n] = field
	return n
}

// setText sets a top-level field, if the option is set.
func (e *edited) setText(name, value string) {
	if value != "" {
		set(e.top, e.text(name, name), e.text(value, name))
	}
}

// child returns the value of a key of a mapping; nil if it is missing.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// set sets a key of a mapping.
func set(n, key, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key.Value {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, key, value)
}

// list returns a top-level list, and creates it if it is missing.
func (e *edited) list(name, field string) *yaml.Node {
	n := child(e.top, name)
	if n == nil || n.Kind != yaml.SequenceNode {
		n = &yaml.Node{Kind: yaml.SequenceNode}
		e.fields[n] = field
		set(e.top, e.text(name, field), n)
	}
	n.Style &^= yaml.FlowStyle // puts each entry on its own lines
	return n
}

// mapping returns a mapping of the non-empty pairs of keys and values, which come from one field of the Application.
func (e *edited) mapping(field string, pairs ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	e.fields[n] = field
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			n.Content = append(n.Content, e.text(pairs[i], field), e.text(pairs[i+1], field))
		}
	}
	return n
}

// images sets `images:`, as `kustomize edit set image` does: entries with the same name are replaced, and all are
// sorted.
func (e *edited) images(o *Kustomize) error {
	if len(o.Images) == 0 {
		return nil
	}
	all := e.list("images", "images")
	entries := map[string]*yaml.Node{}
	for _, n := range all.Content {
		if name := child(n, "name"); name != nil {
			entries[name.Value] = n
		}
	}
	old := maps.Clone(entries)
	for i, option := range o.Images {
		field := fmt.Sprintf("images[%d]", i)
		image, err := parseImage(e.env.expand(option))
		if err != nil {
			return &optionError{field, err.Error()}
		}
		keep := func(key, value string) string {
			if value != "*" {
				return value
			}
			if n := child(old[image.name], key); n != nil {
				return n.Value
			}
			return ""
		}
		entries[image.name] = e.mapping(field, "name", image.name, "newName", keep("newName", image.newName), "newTag", keep("newTag", image.tag), "digest", keep("digest", image.digest))
	}
	all.Content = nil
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		all.Content = append(all.Content, entries[name])
	}
	return nil
}

type image struct{ name, newName, tag, digest string }

// parseImage reads NAME=NEWNAME:TAG@DIGEST and shorter forms of it.
func parseImage(option string) (image, error) {
	key, value, renamed := strings.Cut(option, "=")
	if !renamed {
		value = option
	}
	name, tag, digest := splitImage(value)
	if !renamed && name == option {
		return image{}, fmt.Errorf("invalid format of image %q, use one of the following options: <image>=<newimage>:<newtag>, <image>=<newimage>@<digest>, <image>=<newimage>, <image>:<newtag>, <image>@<digest>", option)
	}
	if !renamed {
		return image{name: name, tag: tag, digest: digest}, nil
	}
	return image{name: key, newName: name, tag: tag, digest: digest}, nil
}

// splitImage splits NAME:TAG@DIGEST. A port is part of the name.
func splitImage(text string) (name, tag, digest string) {
	name, digest, _ = strings.Cut(text, "@")
	slash := max(strings.Index(name, "/"), 0)
	if colon := strings.Index(name[slash:], ":"); colon >= 0 {
		name, tag = name[:slash+colon], name[slash+colon+1:]
	}
	return name, tag, digest
}

// replicas sets `replicas:`, as `kustomize edit set replicas` does.
func (e *edited) replicas(o *Kustomize) error {
	if len(o.Replicas) == 0 {
		return nil
	}
	all := e.list("replicas", "replicas")
	for i, r := range o.Replicas {
		field := fmt.Sprintf("replicas[%d]", i)
		count := r.Count.String()
		if strings.Trim(count, "0123456789") != "" || count == "" {
			return &optionError{field, fmt.Sprintf("replicas of %s: %q is no number", r.Name, count)}
		}
		n := e.mapping(field, "name", r.Name)
		value := e.text(count, field+".count")
		value.Tag, value.Style = "!!int", 0
		n.Content = append(n.Content, e.text("count", field), value)
		all.Content = slices.DeleteFunc(all.Content, func(other *yaml.Node) bool {
			name := child(other, "name")
			return name != nil && name.Value == r.Name
		})
		all.Content = append(all.Content, n)
	}
	slices.SortStableFunc(all.Content, func(a, b *yaml.Node) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	return nil
}

func nameOf(n *yaml.Node) string {
	if name := child(n, "name"); name != nil {
		return name.Value
	}
	return ""
}

// labels sets labels, as `kustomize edit add label` does.
func (e *edited) labels(o *Kustomize) error {
	values := map[string]string{}
	for name, value := range o.CommonLabels {
		values[name] = e.env.expand(value)
	}
	switch {
	case len(values) == 0:
		return nil
	case !o.LabelWithoutSelector && o.LabelIncludeTemplates:
		return &optionError{"labelIncludeTemplates", "--without-selector flag must be specified for --include-templates to work: set labelWithoutSelector"}
	case !o.LabelWithoutSelector:
		return e.addPairs(e.inTop("commonLabels"), "commonLabels", "label", values, o.ForceCommonLabels)
	}
	all := e.list("labels", "commonLabels")
	isTrue := func(n *yaml.Node, key string) bool { v := child(n, key); return v != nil && v.Value == "true" }
	for _, entry := range all.Content {
		if !isTrue(entry, "includeSelectors") && isTrue(entry, "includeTemplates") == o.LabelIncludeTemplates {
			return e.addPairs(e.in(entry, "pairs", "commonLabels"), "commonLabels", "label", values, o.ForceCommonLabels)
		}
	}
	entry := e.mapping("commonLabels")
	if o.LabelIncludeTemplates {
		yes := e.text("true", "labelIncludeTemplates")
		yes.Tag, yes.Style = "!!bool", 0
		entry.Content = append(entry.Content, e.text("includeTemplates", "labelIncludeTemplates"), yes)
	}
	all.Content = append(all.Content, entry)
	return e.addPairs(e.in(entry, "pairs", "commonLabels"), "commonLabels", "label", values, o.ForceCommonLabels)
}

// inTop and in return a mapping below another one, and create it if it is missing.
func (e *edited) inTop(name string) *yaml.Node { return e.in(e.top, name, name) }

func (e *edited) in(above *yaml.Node, name, field string) *yaml.Node {
	n := child(above, name)
	if n == nil || n.Kind != yaml.MappingNode {
		n = e.mapping(field)
		set(above, e.text(name, field), n)
	}
	n.Style &^= yaml.FlowStyle
	return n
}

func (e *edited) addPairs(to *yaml.Node, field, kind string, values map[string]string, force bool) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := field + "." + key
		if strings.ContainsAny(key, "./") {
			at = field + "[" + key + "]"
		}
		if child(to, key) != nil && !force {
			return &optionError{at, fmt.Sprintf("%s %s already in kustomization file. Use --force to override.", kind, key)}
		}
		value := values[key]
		if len(value) > 1 && strings.HasPrefix(value, `"`) && strings.HasSuffix(value, `"`) {
			value = value[1 : len(value)-1] // kustomize removes quotes, as on a command line
		}
		set(to, e.text(key, at), e.text(value, at))
	}
	return nil
}

// annotations sets annotations, as `kustomize edit add annotation` does.
func (e *edited) annotations(o *Kustomize) error {
	if len(o.CommonAnnotations) == 0 {
		return nil
	}
	values := maps.Clone(o.CommonAnnotations)
	for name, value := range values {
		if o.CommonAnnotationsEnvsubst {
			values[name] = e.env.expand(value)
		}
	}
	return e.addPairs(e.inTop("commonAnnotations"), "commonAnnotations", "annotation", values, o.ForceCommonAnnotations)
}

// patches adds patches.
func (e *edited) patches(o *Kustomize) error {
	if len(o.Patches) == 0 {
		return nil
	}
	all := e.list("patches", "patches")
	for i, p := range o.Patches {
		var doc yaml.Node
		if err := yaml.Unmarshal(p, &doc); err != nil || len(doc.Content) == 0 {
			return &optionError{fmt.Sprintf("patches[%d]", i), fmt.Sprintf("not a patch: %v", err)}
		}
		e.of(doc.Content[0], fmt.Sprintf("patches[%d]", i))
		all.Content = append(all.Content, doc.Content[0])
	}
	return nil
}

// of records the field of the Application for a node and its descendants.
func (e *edited) of(n *yaml.Node, field string) {
	e.fields[n] = field
	n.Style = 0
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "\n") {
		n.Style = yaml.LiteralStyle
	}
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			e.of(c, fmt.Sprintf("%s[%d]", field, i))
		case i%2 == 0:
			e.of(c, field+"."+c.Value)
		default:
			e.of(c, field+"."+n.Content[i-1].Value)
		}
	}
}

// components adds components that the file does not list yet.
func (e *edited) components(o *Kustomize) error {
	for i, c := range o.Components {
		at := path.Join(e.dir, c)
		if to := e.tree.Resolve(at); to.Err != nil && o.IgnoreMissingComponents {
			e.tree.TraceFile(at, e.trace)
			continue
		}
		all := e.list("components", "components")
		if !slices.ContainsFunc(all.Content, func(n *yaml.Node) bool { return n.Value == c }) {
			all.Content = append(all.Content, e.text(c, fmt.Sprintf("components[%d]", i)))
		}
	}
	return nil
}
