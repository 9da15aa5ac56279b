// Package mutation runs MutatingAdmissionPolicies as an API server does, with its own packages:
// objects that a server looks up in a cluster are looked up in the state. If the changes of a policy
// depend on unknown values, the error is an *unknown.Error or an *UnknownError.
package mutation
