package engine

import (
	"reflect"
	"strings"
	"text/template/parse"

	"helm.sh/helm/v4/pkg/chart/common"
)

// Templates read the version of Kubernetes in two ways: an action names the field, as .Capabilities.KubeVersion.Minor does,
// since fields of a struct have no other way; or a function, or what an action writes, goes through all of .Capabilities, as
// `toYaml .` does. What else .Capabilities holds is the same for all versions: what a cluster serves is told apart from them.

// kubeVersionField is the field of .Capabilities with the version.
const kubeVersionField = "KubeVersion"

var capabilitiesType = reflect.TypeFor[common.Capabilities]()

// namesKubeVersion reports whether a node names the version in what it evaluates. Blocks in it have nodes of their own.
func namesKubeVersion(n parse.Node) bool {
	pipe, _ := partsOf(n)
	return pipe != nil && strings.Contains(pipe.String(), kubeVersionField)
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
