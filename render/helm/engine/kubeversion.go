package engine

import (
	"reflect"
	"regexp"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/preadmit/preadmit/render/scope"
)

// Templates read the version of Kubernetes in two ways: an action names the field, as .Capabilities.KubeVersion.Minor does,
// since fields of a struct have no other way; or a function, or what an action writes, goes through all of .Capabilities, as
// `toYaml .` does. What a cluster serves follows from its version too, but for most of it: where an action only asks
// for names that API servers of all versions serve, or of none, it does not read the version.

// kubeVersionField is the field of .Capabilities with the version, and servedField that with what is served.
const (
	kubeVersionField = "KubeVersion"
	servedField      = "APIVersions"
)

// asksServed matches a question for one name of what is served.
var asksServed = regexp.MustCompile(servedField + `\.Has "([^"\\]*)"`)

var capabilitiesType = reflect.TypeFor[common.Capabilities]()

// namesKubeVersion reports whether a node names the version in what it evaluates. Blocks in it have nodes of their own.
func namesKubeVersion(n parse.Node) bool {
	pipe, _ := partsOf(n)
	if pipe == nil {
		return false
	}
	text := pipe.String()
	if strings.Contains(text, servedField) {
		text = asksServed.ReplaceAllStringFunc(text, func(question string) string {
			if scope.ServedByAll(asksServed.FindStringSubmatch(question)[1]) {
				return ""
			}
			return question
		})
	}
	return strings.Contains(text, kubeVersionField) || strings.Contains(text, servedField)
}

// namedKubeVersion is called before a node is executed that names the version.
func (r *run) namedKubeVersion(int) string {
	r.readKubeVersion()
	return ""
}

// readKubeVersion notes that what is made may depend on the version from here on.
func (r *run) readKubeVersion() {
	if read := r.opts.KubeVersionRead; read != nil {
		read.Store(true)
	}
}
