package render

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
)

// What the fields of a kustomization do to a field of an object, in the order in
// which kustomize does it.

// is tells whether the field has this path.
func (c *course) is(path ...string) bool {
	return slices.EqualFunc(c.steps, path, func(s fieldStep, key string) bool { return s.key == key })
}

func (c *course) namespaced(k *kustomization) {
	if k.spec.Namespace == "" {
		return
	}
	c.spaces = append(c.spaces, k.spec.Namespace)
	if c.is("metadata", "namespace") {
		c.set(k.spec.Namespace, k.position("namespace"), StepNamespace)
	}
}

func (c *course) named(k *kustomization) {
	if c.loose {
		return
	}
	name := renamed(k, c.id.kind, c.id.names[0])
	changed := name != c.id.names[0]
	if changed {
		c.id.names = append([]string{name}, c.id.names...)
	}
	if !c.is("metadata", "name") {
		return
	}
	prefix, suffix := k.spec.NamePrefix, k.spec.NameSuffix
	switch {
	case c.id.kind == "Namespace" && k.spec.Namespace != "":
		c.step(k.position("namespace"), StepNamespace)
	case !changed:
	case prefix != "" && c.part != Back:
		c.step(k.position("namePrefix"), StepNamePrefix)
	case suffix != "" && c.part != Front:
		c.step(k.position("nameSuffix"), StepNameSuffix)
	}
	c.value.text = renamed(k, c.id.kind, c.value.text)
}

// labelled applies labels and annotations, those of `labels` first.
func (c *course) labelled(k *kustomization) {
	if len(c.steps) == 0 {
		return
	}
	f := setField{steps: c.steps}
	for i, label := range k.spec.Labels {
		if v, ok := label.Pairs[f.key()]; ok && c.reaches(label, f) {
			c.set(v, k.position("labels", i, "pairs", f.key()), StepLabels)
		}
	}
	if v, ok := k.spec.CommonLabels[f.key()]; ok && f.under("labels", "matchLabels", "selector") {
		c.set(v, k.position("commonLabels", f.key()), StepCommonLabels)
	}
	if v, ok := k.spec.CommonAnnotations[f.key()]; ok && f.under("annotations") {
		c.set(v, k.position("commonAnnotations", f.key()), StepCommonAnnotations)
	}
}

// reaches tells whether an entry of `labels` writes to such a field: of the object
// itself, of its selectors, of the templates in it.
func (c *course) reaches(label types.Label, f setField) bool {
	switch {
	case len(c.steps) == 3 && c.steps[0].key == "metadata" && f.under("labels"):
		return true
	case f.under("matchLabels", "selector"):
		return label.IncludeSelectors
	}
	return f.under("labels") && (label.IncludeSelectors || label.IncludeTemplates)
}

// scaled are the kinds that `replicas` is for.
var scaled = []string{"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"}

func (c *course) replicated(k *kustomization) {
	if !c.is("spec", "replicas") || !slices.Contains(scaled, c.id.kind) {
		return
	}
	for i, r := range k.spec.Replicas {
		if slices.Contains(c.id.names, r.Name) {
			c.set(strconv.FormatInt(r.Count, 10), k.position("replicas", i, "count"), StepReplicas)
		}
	}
}

func (c *course) imaged(k *kustomization) {
	if len(c.steps) == 0 || c.steps[len(c.steps)-1].key != "image" || !c.value.known {
		return
	}
	for i, image := range k.spec.Images {
		name, version := SplitImage(c.value.text)
		if !matchesImage(image.Name, name) {
			continue
		}
		c.value.text = tagged(image, name, version)
		if field := c.imageField(image); field != "" {
			c.step(k.position("images", i, field), StepImages)
		}
	}
}

// imageField is the field of an entry that sets the part of the image asked for.
func (c *course) imageField(image types.Image) string {
	version, _ := versionField(image, "")
	if c.part != Front && version != "" {
		return version
	}
	if c.part != Back && image.NewName != "" {
		return "newName"
	}
	return ""
}

// tagged is an image after an entry (imageTagUpdater).
func tagged(image types.Image, name, version string) string {
	if image.NewName != "" {
		name = image.NewName
	}
	tag, _, _ := strings.Cut(version, "@")
	switch {
	case image.NewTag != "" && image.Digest != "":
		version = ":" + image.NewTag + "@" + image.Digest
	case image.NewTag != "":
		version = ":" + image.NewTag
	case image.Digest != "":
		version = "@" + image.Digest
	case image.TagSuffix != "":
		version = ":" + strings.TrimPrefix(tag, ":") + image.TagSuffix
	}
	return name + version
}

// matchesImage tells whether an entry of `images` is for an image of that name
// (IsImageMatched).
func matchesImage(entry, name string) bool {
	re, err := regexp.Compile("^" + entry + "$")
	return err == nil && re.MatchString(name)
}

// generate applies a kustomization's generators to the object.
func (c *course) generate(k *kustomization) {
	if !c.l.isGenerated(c.object) {
		return
	}
	for i, g := range generatorsOf(k, c.id.kind) {
		if !slices.Contains(c.id.names, g.args.Name) {
			continue
		}
		c.generated(k, g, i)
	}
}

// generated takes a field from the entry of a generator.
func (c *course) generated(k *kustomization, g generator, i int) {
	f := setField{steps: c.steps, names: c.id.names}
	if n := len(c.hops); n == len(c.steps) && n > 0 {
		f.value = c.hops[n-1].value.Value
	}
	at, ok := Position{}, false
	if c.is("metadata", "name") {
		if len(c.out) == 0 {
			c.set(g.args.Name, k.position(g.field, i, "name"), StepGenerator)
		}
		return
	}
	if len(c.steps) > 0 {
		at, ok = c.l.generatedBy(k, g, f, i)
	}
	switch {
	case ok:
		c.step(at, StepGenerator)
		c.value = fieldValue{there: true, opaque: true}
	case len(c.out) == 0:
		c.step(k.position(g.field, i), StepGenerator)
		c.out[0].Absent = true
	}
}
