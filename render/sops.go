package render

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render/tree"
)

// encrypted matches a value that SOPS encrypted.
var encrypted = regexp.MustCompile(`^ENC\[AES256_GCM,data:[^,\]]*,iv:[^,\]]*,tag:[^,\]]*,type:\w+\]$`)

// CutSOPS returns a YAML file without the metadata that SOPS adds at its end; ok is false for a file that does not end
// with it.
func CutSOPS(file string) (text string, ok bool) {
	text, about, ok := strings.Cut(file, "\nsops:\n")
	for line := range strings.SplitSeq(about, "\n") {
		ok = ok && (line == "" || line[0] == ' ')
	}
	if !ok {
		return file, false
	}
	return text + "\n", true
}

const sopsReason = "it is encrypted by SOPS"

// IsEncrypted reports whether SOPS encrypted values of the object.
func (o *Object) IsEncrypted() bool {
	return slices.ContainsFunc(o.Unknown, func(u Unknown) bool { return u.Reason == sopsReason })
}

// operatorKind is the kind of objects that an operator in the cluster decrypts, in the groups of several projects: they
// reach the cluster as they are written.
const operatorKind = "SopsSecret"

// Decrypted returns the object as applied by a deployer that decrypts objects of all kinds.
func (o *Object) Decrypted() *Object {
	decrypted := *o
	if content := o.Content(); content["kind"] == operatorKind {
		decrypted.Unknown = slices.Clone(o.Unknown)
		decrypted.removeSOPS()
	}
	return &decrypted
}

// removeSOPS removes the metadata of SOPS from an object that it encrypted, and marks the encrypted values as unknown.
func (o *Object) removeSOPS() {
	content := o.Content()
	about, _ := content["sops"].(map[string]any)
	if !isSet(about["mac"]) || !isSet(about["lastmodified"]) {
		return // the object has a field named sops for another purpose
	}
	delete(content, "sops")
	o.JSON = tree.Encode(content)
	o.Unknown = append(o.Unknown, FieldsWith(content, func(text string) string {
		if encrypted.MatchString(text) {
			return sopsReason
		}
		return ""
	})...)
}

// OmittedAnnotation marks a Secret in a snapshot of a cluster whose values under data were omitted.
const OmittedAnnotation = "preadmit.dev/omitted"

// markOmitted marks the values as unknown that a snapshot of a cluster omits.
func (o *Object) markOmitted() {
	content := o.Content()
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	data, ok := content["data"].(map[string]any)
	if annotations[OmittedAnnotation] != "data" || !ok || content["kind"] != "Secret" {
		return
	}
	delete(annotations, OmittedAnnotation)
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	o.JSON = tree.Encode(content)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		o.Unknown = append(o.Unknown, Unknown{Path: []string{"data", key}, Reason: "the snapshot of the cluster does not have it"})
	}
}

func isSet(value any) bool { return value != nil && value != "" }
