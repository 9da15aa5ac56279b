// Package server is an offline API server with policies: it answers requests as a kube-apiserver with
// the same state would.
//
// A Builder assembles it from layers of objects (package admission) and the policies among them
// (package policy). Equal servers are built once, and so are the clusters and the policies that they
// share.
//
//	b := server.NewBuilder(server.Options{User: author})
//	cluster := b.Cluster(admission.NewIndex(objects))
//	policies := b.Load(ctx, cluster, objects)
//	verdict, err := b.Server(server.View{Cluster: cluster, Policies: policies.Set}).Review(ctx, request)
//
// Review is the one place where a request is decided: authorization, preparation (decoding, defaults,
// mutating plugins, the registry's validation), then the policies of each view, then whether the object
// exists. A Verdict holds all results; Response is the part that a client sees. ReviewBeside skips policies
// for a second request about an object if it is the same to them as the first.
//
// If something is not known (a kind that nothing defines, a Namespace whose labels a selector
// requires, RBAC objects that the state lacks), there is no answer: Verdict.Unknown and
// Verdict.Indeterminate have the reasons.
//
// The package is above admission and policy: policies are evaluated on the results of admission,
// which does not know them.
package server
