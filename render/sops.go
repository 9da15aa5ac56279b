package render

import (
	"regexp"

	"github.com/preadmit/preadmit/render/tree"
)

// encrypted is a value that SOPS encrypted.
var encrypted = regexp.MustCompile(`^ENC\[AES256_GCM,data:[^,\]]*,iv:[^,\]]*,tag:[^,\]]*,type:\w+\]$`)

const sopsReason = "it is encrypted by SOPS"

// removeSOPS takes away what SOPS wrote about an object that it encrypted, and makes the
// encrypted values unknown.
func (o *Object) removeSOPS() {
	content := o.Content()
	about, _ := content["sops"].(map[string]any)
	if !isSet(about["mac"]) || !isSet(about["lastmodified"]) {
		return // an object that has a field of that name
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

func isSet(value any) bool { return value != nil && value != "" }
