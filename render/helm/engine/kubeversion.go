package engine

import (
	"reflect"
	"regexp"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/preadmit/preadmit/render/scope"
)

// Templates read the version of Kubernetes in two ways: an action names the field, like
// .Capabilities.KubeVersion.Minor, since fields of a struct cannot be read otherwise; or a function, or
// printing, traverses all of .Capabilities, like `toYaml .`. The kinds that a cluster serves depend on its
// version too, but mostly not: an action that only tests for names that API servers of all versions serve, or
// of none, does not read the version.

// kubeVersionField is the field of .Capabilities with the version, servedField the one with the served kinds.
const (
	kubeVersionField = "KubeVersion"
	servedField      = "APIVersions"
)

// servedTest matches a test for one served name.
var servedTest = regexp.MustCompile(servedField + `\.Has "([^"\\]*)"`)

var capabilitiesType = reflect.TypeFor[common.Capabilities]()

// namesKubeVersion reports whether the pipeline of a node names the version. Nodes in its blocks are tested
// separately.
func namesKubeVersion(n parse.Node) bool {
	pipe, _ := partsOf(n)
	if pipe == nil {
		return false
	}
	text := pipe.String()
	if strings.Contains(text, servedField) {
		text = servedTest.ReplaceAllStringFunc(text, func(test string) string {
			if scope.ServedByAll(servedTest.FindStringSubmatch(test)[1]) {
				return ""
			}
			return test
		})
	}
	return strings.Contains(text, kubeVersionField) || strings.Contains(text, servedField)
}

// namedKubeVersion is called before a node that names the version is executed.
func (r *run) namedKubeVersion(int) string {
	r.readKubeVersion()
	return ""
}

// readKubeVersion records that the output may depend on the version from now on.
func (r *run) readKubeVersion() {
	if read := r.opts.KubeVersionRead; read != nil {
		read.Store(true)
	}
}
