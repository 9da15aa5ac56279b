package flux

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/origin"
)

// encryptedMark is the prefix of values that SOPS encrypted, in any file format.
var encryptedMark = []byte("ENC[AES256_GCM,")

// markEncrypted marks as unknown what depends on files that SOPS encrypted and that the controller decrypts before the
// build: the values of generated Secrets, and the hashes in their names.
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

// encryptedValue matches a value that SOPS encrypted in a text.
var encryptedValue = regexp.MustCompile(`ENC\[AES256_GCM,[^\]\n]*\]`)

// encryptedIn returns the encrypted values of a YAML file, whose other content SOPS does not change. It returns none
// for other files, which may be encrypted as a whole.
func encryptedIn(file []byte) (values []string) {
	if _, ok := render.CutSOPS(string(file)); ok {
		values = encryptedValue.FindAllString(string(file), -1)
		slices.Sort(values)
	}
	return slices.Compact(values)
}

// hashReason is the reason for a name with an unknown hash of encrypted data. All fields with the name have the same
// value.
const hashReason = "its hash follows from a file encrypted by SOPS"

// markName marks the fields that contain a name as unknown.
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
