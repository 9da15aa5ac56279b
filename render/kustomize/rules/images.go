package rules

import (
	"strings"

	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
	"sigs.k8s.io/kustomize/api/types"
)

// setImage finds the `images:` entry that a part of an image comes from. Several entries may apply in turn:
// one sets another name, an outer one the tag of the image with that name.
func (l *locator) setImage(object int, file string, f setField) (tree.Position, bool) {
	name, version := origin.SplitImage(f.value)
	var front, back, first *tree.Position
	record := func(part **tree.Position, k *build.Kustomization, i int, field string) {
		if *part != nil || field == "" {
			return
		}
		pos := k.Position("images", i, field)
		*part = &pos
		if first == nil {
			first = &pos
		}
	}
	for _, k := range l.passing(f, file) {
		for i := len(k.Spec.Images) - 1; i >= 0; i-- {
			image := k.Spec.Images[i]
			field, ok := versionField(image, version)
			if resultName(image) != name || !ok && back == nil {
				continue
			}
			record(&back, k, i, field)
			if image.NewName != "" {
				record(&front, k, i, "newName")
				name = image.Name
			}
		}
	}
	switch {
	case first == nil:
		return tree.Position{}, false
	case f.part == origin.Front && front != nil:
		return *front, true
	case f.part == origin.Back && back != nil:
		return *back, true
	case f.part != origin.Whole:
		if pos, ok := l.unset(object, f.steps, name); ok {
			return pos, true
		}
	}
	return *first, true
}

// versionField returns the field of an entry that sets the tag or digest of an image, "" if the entry sets
// neither. ok is false when the entry sets another version than the image has.
func versionField(image types.Image, version string) (field string, ok bool) {
	tag := ""
	if image.NewTag != "" {
		field, tag = "newTag", ":"+image.NewTag
	}
	if image.Digest != "" {
		field, tag = "digest", tag+"@"+image.Digest
	}
	if image.TagSuffix != "" && field == "" {
		return "tagSuffix", strings.HasSuffix(version, image.TagSuffix)
	}
	return field, field == "" || version == tag
}

func resultName(image types.Image) string {
	if image.NewName != "" {
		return image.NewName
	}
	return image.Name
}
