package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render/argocd/appset"
	"github.com/preadmit/preadmit/render/deploy"
)

// ArgoCD is configuration of Argo CD that is not in the repository.
type ArgoCD struct {
	// Namespace is the namespace of Argo CD. Empty means argocd.
	Namespace string `json:"namespace,omitempty"`
	// Tracking is how Argo CD marks its objects (application.resourceTrackingMethod): annotation, label,
	// annotation+label, or none for objects without marks. Empty means annotation.
	Tracking string `json:"tracking,omitempty"`
	// KustomizeBuildOptions is kustomize.buildOptions of argocd-cm.
	KustomizeBuildOptions string `json:"kustomizeBuildOptions,omitempty"`
	// KubeVersion and APIVersions are the version of the clusters and the APIs they serve, as charts see
	// them.
	KubeVersion string   `json:"kubeVersion,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	// Revisions are target revisions that mean the judged revision. Empty means HEAD, main and master.
	Revisions []string `json:"revisions,omitempty"`
	// Applications are applied Applications and ApplicationSets that are not in the repository. If there
	// are any, preadmit does not look for other entry points.
	Applications []map[string]any `json:"applications,omitempty"`
	// Clusters are the clusters of Argo CD, besides its own. If it is nil, they are not known.
	Clusters []ArgoCluster `json:"clusters,omitempty"`
	// Generators are the results of generators that only Argo CD can evaluate.
	Generators []ArgoGenerator `json:"generators,omitempty"`
}

// ArgoCluster is a cluster that is registered in Argo CD.
type ArgoCluster struct {
	Name        string            `json:"name"`
	Server      string            `json:"server"`
	Project     string            `json:"project,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ArgoGenerator has the parameters that the generators of one kind in an ApplicationSet produce.
type ArgoGenerator struct {
	// ApplicationSet is NAME or NAMESPACE/NAME.
	ApplicationSet string `json:"applicationSet"`
	// Kind is the kind of generator: pullRequest, scmProvider, plugin or clusterDecisionResource.
	Kind       string           `json:"kind"`
	Parameters []map[string]any `json:"parameters"`
}

// ArgoGenerators returns the values that ArgoGenerator.Kind may have.
func ArgoGenerators() []string {
	return []string{"pullRequest", "scmProvider", "plugin", "clusterDecisionResource"}
}

// ArgoTracking returns the values that ArgoCD.Tracking may have.
func ArgoTracking() []string { return []string{"annotation", "label", "annotation+label", "none"} }

// DeployArgoCD returns the configuration of Argo CD for finding units.
func (c *Config) DeployArgoCD() deploy.ArgoCD {
	if c.ArgoCD == nil {
		return deploy.ArgoCD{}
	}
	a := c.ArgoCD
	out := deploy.ArgoCD{
		Namespace: a.Namespace, Tracking: a.Tracking, BuildOptions: a.KustomizeBuildOptions,
		KubeVersion: a.KubeVersion, APIVersions: a.APIVersions, Revisions: a.Revisions,
	}
	for _, object := range a.Applications {
		text, err := json.Marshal(object)
		if err == nil { // it was decoded from YAML
			out.Applications = append(out.Applications, text)
		}
	}
	if a.Clusters != nil {
		out.Clusters = []appset.Cluster{}
	}
	for _, c := range a.Clusters {
		out.Clusters = append(out.Clusters, appset.Cluster(c))
	}
	for _, g := range a.Generators {
		out.Generators = append(out.Generators, appset.Generator{Set: g.ApplicationSet, Kind: g.Kind, Parameters: g.Parameters})
	}
	return out
}

func (c *checker) argocd(a *ArgoCD) {
	if a == nil {
		return
	}
	c.namespace("argocd.namespace", a.Namespace)
	c.choice("argocd.tracking", a.Tracking, ArgoTracking())
	for i, cluster := range a.Clusters {
		key := fmt.Sprintf("argocd.clusters[%d]", i)
		c.required(key, "server", cluster.Server, "the URL of its API server")
	}
	for i, g := range a.Generators {
		key := fmt.Sprintf("argocd.generators[%d]", i)
		c.required(key, "applicationSet", g.ApplicationSet, "NAME or NAMESPACE/NAME of the ApplicationSet")
		if c.required(key, "kind", g.Kind, "one of "+strings.Join(ArgoGenerators(), ", ")) {
			c.choice(key+".kind", g.Kind, ArgoGenerators())
		}
	}
	for i, object := range a.Applications {
		key := fmt.Sprintf("argocd.applications[%d]", i)
		if kind := object["kind"]; kind != "Application" && kind != "ApplicationSet" {
			c.Fail(key, "not an Application or ApplicationSet of Argo CD, but of kind %v", kind)
		}
	}
}

// required reports whether a field has a value, and adds an error if it has none.
func (c *checker) required(parent, field, value, what string) bool {
	key := parent + "." + field
	if value == "" && !c.Failed(parent) && !c.Failed(key) {
		c.Fail(key, "required: %s", what)
	}
	return value != ""
}
