// Package patches checks mutations of MutatingAdmissionPolicies against the schemas of the kinds that they
// change: the fields that their patches write, and those that their expressions read. The API server compiles
// them without types.
package patches
