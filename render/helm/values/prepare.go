package values

import (
	"fmt"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/preadmit/preadmit/render/scope"
)

// Release is the data of a release that templates see.
type Release struct {
	Name, Namespace string
	// Upgrade is set when the release exists.
	Upgrade bool
	// Revision is the number of the release's revision; 0 means 1, or 2 for an upgrade.
	Revision int
}

// Prepare returns the input of a chart's templates, given the user's values. It removes disabled dependencies
// from c and adds the values that parents import: c must be a copy.
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

// ClusterCapabilities returns the capabilities that templates see if Helm queries a cluster (GetVersionSet of
// pkg/action): its version, the kinds that an API server of that version serves, and apiVersions.
func ClusterCapabilities(kubeVersion string, apiVersions []string) (*common.Capabilities, error) {
	c, err := Capabilities(kubeVersion, nil)
	if err != nil {
		return nil, err
	}
	c.APIVersions = append(scope.Served(c.KubeVersion.Version), apiVersions...)
	return c, nil
}

// Capabilities returns the capabilities that templates see in `helm template`, which queries no cluster: a
// version, and apiVersions beside those that Helm has built in. An empty version means Helm's default.
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

// helmVersion is the version of Helm's library that deployers use.
const helmVersion = "v4.2.4"

// defaultKubeVersion is the version of Kubernetes that this library was built for.
const defaultKubeVersion = "v1.36.0"
