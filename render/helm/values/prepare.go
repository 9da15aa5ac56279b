package values

import (
	"fmt"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/preadmit/preadmit/render/scope"
)

// Release is what templates see of a release.
type Release struct {
	Name, Namespace string
	// Upgrade is set when the release exists.
	Upgrade bool
	// Revision is the number of the revision of the release; of one for which it is 0 it is 1, and 2 of one that exists.
	Revision int
}

// Prepare returns what the templates of a chart see, given the values of its user. Dependencies that
// conditions or tags turn off are dropped from c, and values that its parent
// imports are added to it: c must be a copy.
func Prepare(c *chart.Chart, user map[string]any, release Release, capabilities *common.Capabilities) (common.Values, error) {
	if err := chartutil.ProcessDependencies(c, user); err != nil {
		return nil, fmt.Errorf("dependencies of chart %s: %w", c.Name(), err)
	}
	options := common.ReleaseOptions{
		Name: release.Name, Namespace: release.Namespace,
		IsUpgrade: release.Upgrade, IsInstall: !release.Upgrade, Revision: 1,
	}
	switch {
	case release.Revision > 0:
		options.Revision = release.Revision
	case release.Upgrade:
		options.Revision = 2
	}
	return util.ToRenderValuesWithSchemaValidation(c, user, options, capabilities, true)
}

// ClusterCapabilities returns what templates see of a cluster that Helm asks (GetVersionSet of
// pkg/action): its version, what an API server of that version serves, and apiVersions.
func ClusterCapabilities(kubeVersion string, apiVersions []string) (*common.Capabilities, error) {
	c, err := Capabilities(kubeVersion, nil)
	if err != nil {
		return nil, err
	}
	c.APIVersions = append(scope.Served(c.KubeVersion.Version), apiVersions...)
	return c, nil
}

// Capabilities returns what templates see with `helm template`, which asks no cluster: a version,
// and apiVersions beside those that Helm knows by itself. Without a version it is the one that Helm takes
// when it is not told.
func Capabilities(kubeVersion string, apiVersions []string) (*common.Capabilities, error) {
	if kubeVersion == "" {
		kubeVersion = defaultKubeVersion
	}
	version, err := common.ParseKubeVersion(kubeVersion)
	if err != nil {
		return nil, fmt.Errorf("Kubernetes version %q: %w", kubeVersion, err)
	}
	c := common.DefaultCapabilities.Copy()
	c.KubeVersion = *version
	c.APIVersions = append(c.APIVersions[:len(c.APIVersions):len(c.APIVersions)], apiVersions...)
	c.HelmVersion.Version, c.HelmVersion.GitCommit, c.HelmVersion.GitTreeState, c.HelmVersion.GoVersion = helmVersion, "", "", ""
	return c, nil
}

// helmVersion is that of the library that deployers use.
const helmVersion = "v4.2.4"

// defaultKubeVersion is the version of Kubernetes that it was made for.
const defaultKubeVersion = "v1.36.0"
