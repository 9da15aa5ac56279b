package resourceset

import (
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"

	"github.com/preadmit/preadmit/render/helm/engine"
)

// missing are functions of sprig that slim-sprig does not have.
const missing = `abbrev abbrevboth add1f addf bcrypt buildCustomCert camelcase decryptAES deepCopy derivePassword divf
encryptAES genCA genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey
getHostByName htpasswd initials kebabcase merge mergeOverwrite mulf mustDeepCopy mustMerge mustMergeOverwrite
nospace randAlpha randAlphaNum randAscii randBytes randNumeric semver semverCompare sha512sum shuffle snakecase
subf swapcase untitle uuidv4 wrap wrapWith`

// notKnown returns the error of a function of flux-operator whose result is not known here.
func notKnown(format string, args ...any) error {
	return &engine.Error{Limit: true, Message: fmt.Sprintf(format, args...)}
}

// functions returns the functions that templates may call. inputs is the result of the function inputs.
func functions(inputs map[string]any) template.FuncMap {
	f := sprig.HermeticTxtFuncMap()
	for name := range strings.FieldsSeq(missing) {
		delete(f, name)
	}
	f["slugify"] = slugify
	f["randInt"] = func(int, int) (int, error) { return 0, notKnown("the result of randInt is random") }
	f["inputs"] = func() any { return inputs }
	f["toYaml"] = func(v any) string {
		text, _ := toYaml(v) // empty on an error
		return text
	}
	f["mustToYaml"] = toYaml
	return f
}

// names returns the functions for parsing templates.
func names() template.FuncMap { return functions(nil) }

func toYaml(v any) (string, error) {
	data, err := yaml.Marshal(v)
	return string(data), err
}

// maxSlug is the maximum length of a label value.
const maxSlug = 63

// slugify converts a text to the value of a label: letters and digits, separated by dashes, truncated between words.
// flux-operator transliterates letters that are not ASCII; here they are an error.
func slugify(text string) (string, error) {
	var out strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(text)) {
		switch {
		case r >= 0x80:
			return "", notKnown("slugify of %q: letters that are not ASCII are not supported here", text)
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			out.WriteRune(r)
		case r == '\'' || r == '"':
		case r == '&':
			out.WriteString("and")
		case r == '@':
			out.WriteString("at")
		default:
			out.WriteByte('-')
		}
	}
	slug := strings.Trim(dashes.ReplaceAllString(out.String(), "-"), "-_")
	if len(slug) <= maxSlug {
		return slug, nil
	}
	words := strings.SplitAfter(slug, "-")
	if len(words[0]) > maxSlug {
		return slug[:maxSlug], nil
	}
	cut := 0
	for _, word := range words {
		if cut+len(word)-1 > maxSlug {
			break
		}
		cut += len(word)
	}
	return strings.Trim(slug[:cut], "-"), nil
}

var dashes = regexp.MustCompile("-+")
