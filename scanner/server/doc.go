// Package server is an offline API server with policies: it answers requests as a
// kube-apiserver with the same state would.
//
// A Builder assembles it from what a caller knows: layers of objects (package
// admission) and the policies among them (package policy). Servers that would answer
// the same are built once, and so are the clusters and the policies they share.
//
//	b := server.NewBuilder(server.Options{User: author})
//	cluster := b.Cluster(admission.NewIndex(objects))
//	policies := b.Load(ctx, cluster, objects)
//	verdict, err := b.Server(server.View{Cluster: cluster, Policies: policies.Set}).Review(ctx, request)
//
// Review is the one place where a request is decided: authorization, preparation
// (decoding, defaults, mutating plugins, the registry's validation), then the policies
// of each view, then whether the object exists. A Verdict holds everything that was
// found out on the way; Response is what a client would see of it. ReviewBeside spares a second request about an
// object the policies that cannot tell it from the first.
//
// What is not known - a kind that nothing defines, a Namespace that a selector asks
// for, RBAC that the state does not have - never becomes an answer: Verdict.Unknown and
// Verdict.Indeterminate say why there is none.
//
// The package is above admission and policy: admission is what policies are evaluated
// on, and knows nothing of them.
package server
