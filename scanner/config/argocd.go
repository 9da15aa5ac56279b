package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render/argocd/appset"
	"github.com/preadmit/preadmit/render/deploy"
)

// ArgoCD is the configuration of Argo CD that a repository does not have.
type ArgoCD struct {
	// Namespace is the one of Argo CD. Empty means argocd.
	Namespace string `json:"namespace,omitempty"`
	// Tracking is how objects say whose they are (application.resourceTrackingMethod): annotation,
	// label, annotation+label or, for objects without marks, none. Empty means annotation.
	Tracking string `json:"tracking,omitempty"`
	// KustomizeBuildOptions are kustomize.buildOptions of argocd-cm.
	KustomizeBuildOptions string `json:"kustomizeBuildOptions,omitempty"`
	// KubeVersion is the version of the clusters, and APIVersions what they serve, as charts see them.
	KubeVersion string   `json:"kubeVersion,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	// Revisions are target revisions that mean what is judged. Empty means HEAD, main and master.
	Revisions []string `json:"revisions,omitempty"`
	// Applications are Applications and ApplicationSets that are applied and that the repository does not
	// hold. With any, other entry points are not looked for.
	Applications []map[string]any `json:"applications,omitempty"`
	// Clusters are those that Argo CD knows, beside its own. Without the field that is not known.
	Clusters []ArgoCluster `json:"clusters,omitempty"`
	// Generators are what generators find of which only Argo CD knows what that is.
	Generators []ArgoGenerator `json:"generators,omitempty"`
}

// ArgoCluster is a cluster that Argo CD knows.
type ArgoCluster struct {
	Name        string            `json:"name"`
	Server      string            `json:"server"`
	Project     string            `json:"project,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ArgoGenerator are the parameters that the generators of a kind make in an ApplicationSet.
type ArgoGenerator struct {
	// ApplicationSet is NAME or NAMESPACE/NAME.
	ApplicationSet string `json:"applicationSet"`
	// Kind is that of the generator: pullRequest, scmProvider, plugin or clusterDecisionResource.
	Kind       string           `json:"kind"`
	Parameters []map[string]any `json:"parameters"`
}

// ArgoGenerators returns the values that ArgoGenerator.Kind may have.
func ArgoGenerators() []string {
	return []string{"pullRequest", "scmProvider", "plugin", "clusterDecisionResource"}
}

// ArgoTracking returns the values that ArgoCD.Tracking may have.
func ArgoTracking() []string { return []string{"annotation", "label", "annotation+label", "none"} }

// DeployArgoCD is what is known of Argo CD, for finding units.
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
		if err == nil { // it was YAML
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

// required reports whether a field has a value, and refuses it without one.
func (c *checker) required(parent, field, value, what string) bool {
	key := parent + "." + field
	if value == "" && !c.Failed(parent) && !c.Failed(key) {
		c.Fail(key, "required: %s", what)
	}
	return value != ""
}
