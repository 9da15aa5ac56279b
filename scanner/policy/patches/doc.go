// Package patches holds mutations of MutatingAdmissionPolicies to the schemas of the kinds that they
// change: what their patches write, and what their expressions read. The API server compiles them
// without types.
package patches
