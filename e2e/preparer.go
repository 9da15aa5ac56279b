package main

import (
	"context"
	"slices"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/suite"
)

// preparer prepares requests on the state of a suite.
type preparer struct {
	state   *admission.Index
	cluster *admission.Cluster
	// policies are the policies that the server accepts.
	policies  *policy.Set
	mutations mutation.Compiler
}

func newPreparer(ctx context.Context, s *suite.Suite) *preparer {
	p := &preparer{state: admission.NewIndex(append(slices.Clone(s.Context), s.Policies...))}
	p.cluster = p.clusterOf()
	p.policies, _ = policy.Load(ctx, p.cluster, suite.Admin(), s.Policies)
	return p
}

func (p *preparer) clusterOf(more ...*admission.Object) *admission.Cluster {
	return admission.NewCluster(admission.ClusterOptions{Known: kinds.CompleteAll(), Creator: suite.Admin()}, admission.NewIndex(more), p.state)
}

// otherOrder returns a preparer with the mutating policies in reverse order. A server has them in
// an arbitrary order, which may change with a restart.
func (p *preparer) otherOrder() *preparer {
	other := &preparer{state: p.state, cluster: p.cluster, policies: &policy.Set{}}
	*other.policies = *p.policies
	other.policies.Mutations = slices.Clone(p.policies.Mutations)
	slices.Reverse(other.policies.Mutations)
	return other
}

// preparedObjects are the objects of a request as policies see them, nil if there is none.
type preparedObjects struct{ object, old map[string]any }

// prepare returns the objects of a request as policies see them, the new one as a server
// returns it from its storage. It returns nil if preadmit refuses the request.
func (p *preparer) prepare(ctx context.Context, ask admission.ClientRequest) (*preparedObjects, error) {
	cluster := p.cluster
	if ask.OldObject != nil && ask.OldObject.GroupVersionKind().Kind == "Namespace" {
		cluster = p.clusterOf(ask.OldObject)
	}
	if mutator := mutation.New(cluster, p.policies, &p.mutations); mutator != nil {
		ask.Mutator = mutator
	}
	request, _, err := cluster.Prepare(ctx, ask)
	if err != nil {
		return nil, nil
	}
	version, err := request.Version(request.GetKind())
	if err != nil {
		return nil, err
	}
	ours := &preparedObjects{}
	if ours.old, err = asJSON(version.OldObject); err != nil {
		return nil, err
	}
	object, err := stored(request)
	if err != nil {
		return nil, err
	}
	if object == nil {
		if object, err = rereadCustom(ctx, cluster, ask, version.Object); err != nil {
			return nil, err
		}
	}
	ours.object, err = asJSON(object)
	return ours, err
}

// rereadCustom returns a custom resource as a server reads it from etcd: without the fields that policies wrote and
// its schema does not have. Validating policies do see these fields.
func rereadCustom(ctx context.Context, cluster *admission.Cluster, ask admission.ClientRequest, object map[string]any) (map[string]any, error) {
	if ask.Mutator == nil || ask.Subresource != "" || object == nil {
		return object, nil
	}
	ask.Mutator, ask.Object = nil, admission.NewObject(object)
	request, _, err := cluster.Prepare(ctx, ask)
	if err != nil {
		return nil, err
	}
	return request.ObjectIn(request.GetKind())
}
