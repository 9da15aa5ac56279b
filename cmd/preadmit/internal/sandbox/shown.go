package sandbox

import (
	"regexp"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy/secrets"
)

// secret is the kind of Secrets, whose data is not shown in any output.
var secret = schema.GroupKind{Kind: "Secret"}

// byPolicy matches a message of a policy in the server's wording: its beginning and the policy's name.
var byPolicy = regexp.MustCompile(`(?s)^(.*?[Pp]olicy ['"]([^'"]*)['"](?: with binding '[^']*')?(?: denied request)?: ).*$`)

// openPolicies returns the names of the policies among results that take no Secret as their param.
func openPolicies(results []Result) map[string]bool {
	open := map[string]bool{}
	for i := range results {
		o := results[i].Object
		if kind := o.GroupVersionKind().GroupKind(); !kinds.IsPolicy(kind) || kinds.IsBinding(kind) {
			continue
		}
		spec, _ := o.Content()["spec"].(map[string]any)
		param, _ := spec["paramKind"].(map[string]any)
		before, seen := open[o.Name()] // policies of several kinds may have one name
		open[o.Name()] = (before || !seen) && param["kind"] != secret.Kind
	}
	return open
}

// shown returns a text about the object without values of Secrets. If a scan expects the same text, it
// returns what the scan shows. For another text of a policy that reads or may read a Secret, it returns
// only the beginning.
func (r *Result) shown(text string) string {
	if told, ok := r.Redacted[text]; ok {
		return told
	}
	about := r.Object.GroupVersionKind().GroupKind() == secret
	if m := byPolicy.FindStringSubmatch(text); m != nil && (about || !r.open[m[2]]) {
		return m[1] + secrets.Hidden
	}
	if about && !isText(r.Object.Content()) {
		return secrets.Hidden // quoted values that are not text could not be found
	}
	return secrets.ConcealFor(text, r.Object)
}

// isText reports whether all values of a Secret are text, as they have to be.
func isText(content map[string]any) bool {
	for _, field := range []string{"data", "stringData"} {
		if content[field] == nil {
			continue
		}
		values, ok := content[field].(map[string]any)
		if !ok {
			return false
		}
		for _, value := range values {
			if _, ok := value.(string); !ok {
				return false
			}
		}
	}
	return true
}
