// Package mutation runs MutatingAdmissionPolicies as an API server does, with its own packages:
// what a server looks up in a cluster is looked up in the state. Where it takes a cluster to know
// what a policy changes, that is an *unknown.Error.
package mutation
