package flux

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// encryptedMark begins a value that SOPS encrypted, in whatever format.
var encryptedMark = []byte("ENC[AES256_GCM,")

// markEncrypted makes unknown what follows from files that SOPS encrypted and that the
// controller decrypts before the build: the values of generated Secrets, and the hashes in
// their names.
func markEncrypted(objects []*render.Object) {
	for _, o := range objects {
		if !bytes.Contains(o.JSON, []byte(`"kind":"Secret"`)) || o.IsEncrypted() {
			continue
		}
		content := o.Content()
		data, _ := content["data"].(map[string]any)
		made := false
		for key, value := range data {
			text, _ := value.(string)
			decoded, err := base64.StdEncoding.DecodeString(text)
			if err == nil && bytes.Contains(decoded, encryptedMark) {
				o.Unknown = append(o.Unknown, render.Unknown{Path: []string{"data", key}, Reason: "it is made of a file encrypted by SOPS", Holds: encryptedIn(decoded)})
				made = true
			}
		}
		if name := nameOf(content); made && origin.ContentHash.MatchString(name) {
			markName(objects, name)
		}
	}
}

// encryptedValue is a value that SOPS encrypted in a text.
var encryptedValue = regexp.MustCompile(`ENC\[AES256_GCM,[^\]\n]*\]`)

// encryptedIn returns the encrypted values in a YAML file, the rest of which SOPS leaves as it is; none for other files,
// which it may encrypt as a whole.
func encryptedIn(file []byte) (values []string) {
	if _, ok := render.CutSOPS(string(file)); ok {
		values = encryptedValue.FindAllString(string(file), -1)
		slices.Sort(values)
	}
	return slices.Compact(values)
}

// hashReason says why a name is not known that has a hash of encrypted data. It is the same name for all who have it.
const hashReason = "its hash follows from a file encrypted by SOPS"

// markName makes unknown the fields that hold a name.
func markName(objects []*render.Object, name string) {
	for _, o := range objects {
		if !bytes.Contains(o.JSON, []byte(`"`+name+`"`)) {
			continue
		}
		o.Unknown = append(o.Unknown, render.FieldsWith(o.Content(), func(text string) string {
			if text == name {
				return hashReason
			}
			return ""
		})...)
	}
}
