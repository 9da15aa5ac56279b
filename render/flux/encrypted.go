package flux

import (
	"bytes"
	"encoding/base64"

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
				o.Unknown = append(o.Unknown, render.Unknown{Path: []string{"data", key}, Reason: "it is made of a file encrypted by SOPS"})
				made = true
			}
		}
		if name := nameOf(content); made && origin.ContentHash.MatchString(name) {
			markName(objects, name)
		}
	}
}

// markName makes unknown the fields that hold a name.
func markName(objects []*render.Object, name string) {
	for _, o := range objects {
		if !bytes.Contains(o.JSON, []byte(`"`+name+`"`)) {
			continue
		}
		o.Unknown = append(o.Unknown, render.FieldsWith(o.Content(), func(text string) string {
			if text == name {
				return "its hash follows from a file encrypted by SOPS"
			}
			return ""
		})...)
	}
}
