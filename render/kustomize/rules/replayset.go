package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"sigs.k8s.io/kustomize/api/types"
)

// How the fields of a kustomization change a field of an object, in kustomize's order.

// is reports whether the field has this path.
func (c *replay) is(path ...string) bool {
	return slices.EqualFunc(c.steps, path, func(s origin.PathStep, key string) bool { return s.Key == key })
}

func (c *replay) namespaced(k *build.Kustomization) {
	if k.Spec.Namespace == "" {
		return
	}
	c.spaces = append(c.spaces, k.Spec.Namespace)
	if c.is("metadata", "namespace") {
		c.set(k.Spec.Namespace, k.Position("namespace"), origin.StepNamespace)
	}
}

func (c *replay) named(k *build.Kustomization) {
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
	prefix, suffix := k.Spec.NamePrefix, k.Spec.NameSuffix
	switch {
	case c.id.kind == "Namespace" && k.Spec.Namespace != "":
		c.step(k.Position("namespace"), origin.StepNamespace)
	case !changed:
	case prefix != "" && c.part != origin.Back:
		c.step(k.Position("namePrefix"), origin.StepNamePrefix)
	case suffix != "" && c.part != origin.Front:
		c.step(k.Position("nameSuffix"), origin.StepNameSuffix)
	}
	c.value.text = renamed(k, c.id.kind, c.value.text)
}

// labelled applies labels and annotations, first those of `labels`.
func (c *replay) labelled(k *build.Kustomization) {
	if len(c.steps) == 0 {
		return
	}
	f := setField{steps: c.steps}
	for i, label := range k.Spec.Labels {
		if v, ok := label.Pairs[f.key()]; ok && c.reaches(label, f) {
			c.set(v, k.Position("labels", i, "pairs", f.key()), origin.StepLabels)
		}
	}
	if v, ok := k.Spec.CommonLabels[f.key()]; ok && f.under("labels", "matchLabels", "selector") {
		c.set(v, k.Position("commonLabels", f.key()), origin.StepCommonLabels)
	}
	if v, ok := k.Spec.CommonAnnotations[f.key()]; ok && f.under("annotations") {
		c.set(v, k.Position("commonAnnotations", f.key()), origin.StepCommonAnnotations)
	}
}

// reaches reports whether an entry of `labels` writes the field: in the object's own labels, its selectors, or
// its templates.
func (c *replay) reaches(label types.Label, f setField) bool {
	switch {
	case len(c.steps) == 3 && c.steps[0].Key == "metadata" && f.under("labels"):
		return true
	case f.under("matchLabels", "selector"):
		return label.IncludeSelectors
	}
	return f.under("labels") && (label.IncludeSelectors || label.IncludeTemplates)
}

// scaled are the kinds that `replicas` applies to.
var scaled = []string{"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"}

func (c *replay) replicated(k *build.Kustomization) {
	if !c.is("spec", "replicas") || !slices.Contains(scaled, c.id.kind) {
		return
	}
	for i, r := range k.Spec.Replicas {
		if slices.Contains(c.id.names, r.Name) {
			c.set(strconv.FormatInt(r.Count, 10), k.Position("replicas", i, "count"), origin.StepReplicas)
		}
	}
}

func (c *replay) imaged(k *build.Kustomization) {
	if len(c.steps) == 0 || c.steps[len(c.steps)-1].Key != "image" || !c.value.known {
		return
	}
	for i, image := range k.Spec.Images {
		name, version := origin.SplitImage(c.value.text)
		if !matchesImage(image.Name, name) {
			continue
		}
		c.value.text = tagged(image, name, version)
		if field := c.imageField(image); field != "" {
			c.step(k.Position("images", i, field), origin.StepImages)
		}
	}
}

// imageField returns the field of an entry that sets the needed part of the image.
func (c *replay) imageField(image types.Image) string {
	version, _ := versionField(image, "")
	if c.part != origin.Front && version != "" {
		return version
	}
	if c.part != origin.Back && image.NewName != "" {
		return "newName"
	}
	return ""
}

// tagged returns an image after an entry was applied (imageTagUpdater).
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

// matchesImage reports whether an entry of `images` matches an image name (IsImageMatched).
func matchesImage(entry, name string) bool {
	re, err := regexp.Compile("^" + entry + "$")
	return err == nil && re.MatchString(name)
}

// generate applies a kustomization's generators to the object.
func (c *replay) generate(k *build.Kustomization) {
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

// generated sets a field from the entry of a generator.
func (c *replay) generated(k *build.Kustomization, g generator, i int) {
	f := setField{steps: c.steps, names: c.id.names}
	if n := len(c.hops); n == len(c.steps) && n > 0 {
		f.value = c.hops[n-1].Value.Value
	}
	at, ok := tree.Position{}, false
	if c.is("metadata", "name") {
		if len(c.out) == 0 {
			c.set(g.args.Name, k.Position(g.field, i, "name"), origin.StepGenerator)
		}
		return
	}
	if len(c.steps) > 0 {
		at, ok = c.l.generatedBy(k, g, f, i)
	}
	switch {
	case ok:
		c.step(at, origin.StepGenerator)
		c.value = fieldValue{there: true, opaque: true}
	case len(c.out) == 0:
		c.step(k.Position(g.field, i), origin.StepGenerator)
		c.out[0].Absent = true
	}
}
