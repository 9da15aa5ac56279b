package scanner

import "slices"

// Config is what .preadmit.yaml says (apiVersion preadmit.dev/v1alpha1, kind
// ScanConfig) and what the flags of `preadmit scan` override.
type Config struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// FailOn is the weakest action that fails a run: deny, warn, audit,
	// indeterminate or never. Empty means deny.
	FailOn string `json:"failOn,omitempty"`
	// LoadRestrictor is kustomize's, empty means LoadRestrictionsNone.
	LoadRestrictor string `json:"loadRestrictor,omitempty"`
	// Roots are globs (** crosses directories) that choose among the discovered
	// roots. Empty means all.
	Roots []string `json:"roots,omitempty"`
	// Policies and Context are paths of the repository whose objects belong to
	// every target's state besides the roots: more policies, and YAML of a
	// cluster's Namespaces, CRDs, params, RBAC.
	Policies []string `json:"policies,omitempty"`
	Context  []string `json:"context,omitempty"`
	// User makes the requests. Default: Flux's kustomize-controller.
	User *User `json:"user,omitempty"`
	// Workloads says whether what the controllers create of workloads, Pods most of
	// all, is judged as well. Nil means true.
	Workloads *bool `json:"workloads,omitempty"`
	// Targets are the clusters the roots are deployed to. Without any, each root is
	// its own target that may look up namespaces, params and CRDs in other roots.
	Targets []Target `json:"targets,omitempty"`
}

// Target is a cluster that roots are deployed to.
type Target struct {
	Name     string   `json:"name"`
	Roots    []string `json:"roots"`
	Policies []string `json:"policies,omitempty"`
	Context  []string `json:"context,omitempty"`
	User     *User    `json:"user,omitempty"`
}

// User is request.userInfo.
type User struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

// given are the paths of all policies and context.
func (c *Config) given() []string {
	paths := slices.Concat(c.Policies, c.Context)
	for _, t := range c.Targets {
		paths = append(append(paths, t.Policies...), t.Context...)
	}
	return paths
}
