package config

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/internal/strictyaml"
)

// Config is the content of a .preadmit.yaml (apiVersion preadmit.dev/v1alpha1, kind
// ScanConfig). The flags of `preadmit scan` override it.
type Config struct {
	// document is the file that it was read from.
	document *strictyaml.Document `json:"-"`

	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// FailOn is the weakest action that fails a run: deny, warn, audit,
	// indeterminate or never. Empty means deny.
	FailOn string `json:"failOn,omitempty"`
	// RequirePolicies makes a scan without a policy in force incomplete.
	RequirePolicies bool `json:"requirePolicies,omitempty"`
	// LoadRestrictor is the load restrictor of kustomize. Empty means
	// LoadRestrictionsNone.
	LoadRestrictor string `json:"loadRestrictor,omitempty"`
	// Roots are globs that select roots, see MatchGlob. Empty means all.
	Roots []string `json:"roots,omitempty"`
	// Policies and Context are paths in the repository. Their objects belong to the cluster state of every target,
	// in addition to the objects of its roots: policies, and the Namespaces, CRDs, params and RBAC objects of a
	// cluster.
	Policies []string `json:"policies,omitempty"`
	Context  []string `json:"context,omitempty"`
	// User makes the requests. Nil means DefaultUser.
	User *User `json:"user,omitempty"`
	// Applier is the tool that applies objects of roots without a deployer in the repository: one of Appliers.
	// Empty means that it is not known.
	Applier string `json:"applier,omitempty"`
	// ServiceNodePortRange is the flag of the API server, like 30000-32767. Empty means its default.
	ServiceNodePortRange string `json:"serviceNodePortRange,omitempty"`
	// KubernetesVersion is the version of the API servers, like 1.34 or 1.34.2. Empty means release.Latest. A
	// target can override it.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// FeatureGates are the feature gates of the API servers that differ from the defaults.
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// RuntimeConfig has the APIs of the flag --runtime-config of the API servers that differ from the defaults.
	RuntimeConfig map[string]bool `json:"runtimeConfig,omitempty"`
	// Workloads is whether objects that controllers create for workloads, such as Pods, are judged too. Nil means
	// true.
	Workloads *bool `json:"workloads,omitempty"`
	// Entries are the entry points of deployers, such as clusters/production. Empty means that preadmit finds them.
	Entries []string `json:"entries,omitempty"`
	// Self are sources of deployers that are this repository, in addition to those that entry points use:
	// KIND/NAMESPACE/NAME of an object, or a URL.
	Self []string `json:"self,omitempty"`
	// SourcePaths maps sources of Flux, as KIND/NAMESPACE/NAME, to the directories of the repository that they are
	// made from, for example with `flux push artifact --path`. Such a source is this repository.
	SourcePaths map[string]string `json:"sourcePaths,omitempty"`
	// StrictSubstitution is set if Flux fails for a variable without a value, as with the controller's feature gate
	// StrictPostBuildSubstitutions.
	StrictSubstitution bool `json:"strictSubstitution,omitempty"`
	// ArgoCD is configuration of Argo CD that is not in the repository. Nil means the default.
	ArgoCD *ArgoCD `json:"argocd,omitempty"`
	// Unclaimed determines how roots that no deployer of the repository applies are treated. Empty means
	// UnclaimedReport, or UnclaimedJudge if ApplicationSets that may apply them are not evaluated.
	Unclaimed string `json:"unclaimed,omitempty"`
	// Artifacts determines what may be fetched. Nil means only artifacts that the base has.
	Artifacts *Artifacts `json:"artifacts,omitempty"`
	// CRDs are sources of CustomResourceDefinitions outside of the repository, for every target.
	CRDs []CRDSource `json:"crds,omitempty"`
	// Charts are charts of the repository that are judged with these values instead of their defaults.
	Charts []Chart `json:"charts,omitempty"`
	// Targets are the clusters that roots are deployed to. If there are none, each root is a separate target, which
	// may use Namespaces, params and CRDs of other roots.
	Targets []Target `json:"targets,omitempty"`
}

// Target is a cluster that roots are deployed to.
type Target struct {
	Name     string   `json:"name"`
	Roots    []string `json:"roots"`
	Policies []string `json:"policies,omitempty"`
	Context  []string `json:"context,omitempty"`
	User     *User    `json:"user,omitempty"`
	// Namespace is the namespace of objects that name none, if nothing in the repository sets it. Empty means
	// default.
	Namespace string `json:"namespace,omitempty"`
	// Complete are kinds, as KIND or KIND.GROUP, of which the target has only the objects of its roots, Policies
	// and Context: other objects of these kinds do not exist.
	Complete []string `json:"complete,omitempty"`
	// KubernetesVersion, FeatureGates and RuntimeConfig override those of Config for the target's API server.
	KubernetesVersion string          `json:"kubernetesVersion,omitempty"`
	FeatureGates      map[string]bool `json:"featureGates,omitempty"`
	RuntimeConfig     map[string]bool `json:"runtimeConfig,omitempty"`
}

// Values of Config.Unclaimed.
const (
	// UnclaimedJudge judges the roots as if they were applied.
	UnclaimedJudge = "judge"
	// UnclaimedReport lists the roots. A root that the change touches is indeterminate.
	UnclaimedReport = "report"
	// UnclaimedIgnore does not report the roots.
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

// Artifacts determines which artifacts from outside the repository may be fetched.
type Artifacts struct {
	// Allow are patterns of URLs that a change may add, see permit.ParsePattern.
	Allow []string `json:"allow,omitempty"`
}

// AllowedURLs returns the patterns of URLs that a change may add.
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

// Namespaces returns the namespaces that targets set for objects without one.
func (c *Config) Namespaces() []string {
	var names []string
	for _, t := range c.Targets {
		if t.Namespace != "" {
			names = append(names, t.Namespace)
		}
	}
	return names
}

// PolicyPaths returns the paths of all policies, of all targets.
func (c *Config) PolicyPaths() []string {
	paths := slices.Clone(c.Policies)
	for _, t := range c.Targets {
		paths = append(paths, t.Policies...)
	}
	return paths
}

// GivenPaths returns the paths of all policies and context, of all targets.
func (c *Config) GivenPaths() []string {
	paths := slices.Concat(c.Policies, c.Context)
	for _, t := range c.Targets {
		paths = append(append(paths, t.Policies...), t.Context...)
	}
	return paths
}
