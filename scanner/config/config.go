package config

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Config is the content of a .preadmit.yaml (apiVersion preadmit.dev/v1alpha1, kind
// ScanConfig). The flags of `preadmit scan` override it.
type Config struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// FailOn is the weakest action that fails a run: deny, warn, audit,
	// indeterminate or never. Empty means deny.
	FailOn string `json:"failOn,omitempty"`
	// RequirePolicies makes a scan incomplete in which no policy is in force.
	RequirePolicies bool `json:"requirePolicies,omitempty"`
	// LoadRestrictor is the load restrictor of kustomize. Empty means
	// LoadRestrictionsNone.
	LoadRestrictor string `json:"loadRestrictor,omitempty"`
	// Roots are globs that choose among the discovered roots, see MatchGlob. Empty
	// means all.
	Roots []string `json:"roots,omitempty"`
	// Policies and Context are paths in the repository. Their objects belong to the
	// cluster state of every target, besides the objects of its roots: more policies,
	// and the Namespaces, CRDs, params and RBAC of a cluster.
	Policies []string `json:"policies,omitempty"`
	Context  []string `json:"context,omitempty"`
	// User makes the requests. Nil means DefaultUser.
	User *User `json:"user,omitempty"`
	// Applier is the tool that applies objects where no deployer of the repository says which:
	// one of Appliers. Empty means that it is not known.
	Applier string `json:"applier,omitempty"`
	// ServiceNodePortRange is the flag of the API server, as 30000-32767. Empty means its default.
	ServiceNodePortRange string `json:"serviceNodePortRange,omitempty"`
	// KubernetesVersion is the version of the API servers, as 1.34 or 1.34.2. Empty means
	// release.Latest. Each target may have its own.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// FeatureGates are the flag of the API servers, where they differ from its defaults.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// RuntimeConfig is the flag --runtime-config of the API servers, where it differs from its defaults.
	RuntimeConfig map[string]bool `json:"runtimeConfig,omitempty"`
	// Workloads says whether the objects that controllers create for workloads, such
	// as Pods, are judged too. Nil means true.
	Workloads *bool `json:"workloads,omitempty"`
	// Entries are the directories that deployers begin with, as clusters/production. Empty
	// means that they are found.
	Entries []string `json:"entries,omitempty"`
	// Self are sources of deployers that are this repository, beside those that entry points
	// use: KIND/NAMESPACE/NAME of an object, or a URL.
	Self []string `json:"self,omitempty"`
	// SourcePaths are the directories of the repository that sources of Flux are made of, by KIND/NAMESPACE/NAME of
	// the object, as `flux push artifact --path` makes them. Such a source is this repository.
	SourcePaths map[string]string `json:"sourcePaths,omitempty"`
	// StrictSubstitution is set where Flux fails when a variable has no value, as with the
	// controller's StrictPostBuildSubstitutions.
	StrictSubstitution bool `json:"strictSubstitution,omitempty"`
	// ArgoCD is the configuration of Argo CD that the repository does not have. Nil means the default.
	ArgoCD *ArgoCD `json:"argocd,omitempty"`
	// Unclaimed says what to do with roots that no deployer of the repository applies. Empty
	// means UnclaimedReport, and UnclaimedJudge where ApplicationSets that may apply them are not
	// evaluated.
	Unclaimed string `json:"unclaimed,omitempty"`
	// Artifacts says what may be fetched. Nil means nothing that the base does not have.
	Artifacts *Artifacts `json:"artifacts,omitempty"`
	// CRDs are sources of CustomResourceDefinitions outside of the repository, of every target.
	CRDs []CRDSource `json:"crds,omitempty"`
	// Charts are charts of the repository that are judged with these values, instead of with their own.
	Charts []Chart `json:"charts,omitempty"`
	// Targets are the clusters that roots are deployed to. Without any, each root is a
	// target of its own, which may use Namespaces, params and CRDs of other roots.
	Targets []Target `json:"targets,omitempty"`
}

// Target is a cluster that roots are deployed to.
type Target struct {
	Name     string   `json:"name"`
	Roots    []string `json:"roots"`
	Policies []string `json:"policies,omitempty"`
	Context  []string `json:"context,omitempty"`
	User     *User    `json:"user,omitempty"`
	// Namespace is where objects are applied that name no namespace, if nothing in the
	// repository says so. Empty means default.
	Namespace string `json:"namespace,omitempty"`
	// Complete are kinds, as KIND or KIND.GROUP, of which the target has no objects but those
	// of its roots, Policies and Context: what is not there does not exist.
	Complete []string `json:"complete,omitempty"`
	// KubernetesVersion, FeatureGates and RuntimeConfig are those of its API server. Empty means those of Config.
	KubernetesVersion string          `json:"kubernetesVersion,omitempty"`
	FeatureGates      map[string]bool `json:"featureGates,omitempty"`
	RuntimeConfig     map[string]bool `json:"runtimeConfig,omitempty"`
}

// What Config.Unclaimed may be.
const (
	// UnclaimedJudge judges the roots as if somebody applied them.
	UnclaimedJudge = "judge"
	// UnclaimedReport says which roots they are; one that the change touches is
	// indeterminate.
	UnclaimedReport = "report"
	// UnclaimedIgnore says nothing about them.
	UnclaimedIgnore = "ignore"
)

// UnclaimedValues returns the values that Config.Unclaimed may have.
func UnclaimedValues() []string {
	return []string{UnclaimedJudge, UnclaimedReport, UnclaimedIgnore}
}

// Kinds returns the kinds of Complete.
func (t *Target) Kinds() []schema.GroupKind {
	var all []schema.GroupKind
	for _, name := range t.Complete {
		all = append(all, schema.ParseGroupKind(name))
	}
	return all
}

// Artifacts says what may be fetched of what lies elsewhere.
type Artifacts struct {
	// Allow are patterns of URLs that a change may bring, see permit.ParsePattern.
	Allow []string `json:"allow,omitempty"`
}

// AllowedURLs returns the patterns of URLs that a change may bring.
func (c *Config) AllowedURLs() []string {
	if c.Artifacts == nil {
		return nil
	}
	return c.Artifacts.Allow
}

// User is the user of a request: request.userInfo in a policy.
type User struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

// Namespaces returns the namespaces that targets name for objects without one.
func (c *Config) Namespaces() []string {
	var names []string
	for _, t := range c.Targets {
		if t.Namespace != "" {
			names = append(names, t.Namespace)
		}
	}
	return names
}

// GivenPaths returns the paths of all policies and context, of all targets.
func (c *Config) GivenPaths() []string {
	paths := slices.Concat(c.Policies, c.Context)
	for _, t := range c.Targets {
		paths = append(append(paths, t.Policies...), t.Context...)
	}
	return paths
}
