package unknown

import (
	"crypto/tls"
	"encoding/base64"
	"slices"

	"github.com/preadmit/preadmit/render"
)

// Warnings returns an API server's warnings about an object without those about a stand-in: that a
// certificate and a key, one of which is unknown, do not match. content is the object with stand-ins.
func Warnings(warnings []string, content map[string]any, fields []render.Unknown) []string {
	if content["kind"] != "Secret" || content["type"] != "kubernetes.io/tls" {
		return warnings
	}
	data, _ := content["data"].(map[string]any)
	open := false
	value := func(key string) []byte {
		for _, field := range []string{"data", "stringData"} {
			open = open || At([]string{field, key}, fields)
		}
		text, _ := data[key].(string)
		if given, ok := content["stringData"].(map[string]any); ok && given[key] != nil {
			text, _ = given[key].(string)
			return []byte(text)
		}
		decoded, _ := base64.StdEncoding.DecodeString(text)
		return decoded
	}
	_, err := tls.X509KeyPair(value("tls.crt"), value("tls.key"))
	if err == nil || !open {
		return warnings
	}
	return slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return w == err.Error() })
}
