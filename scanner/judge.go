package scanner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// judge answers requests as an API server with one state and one set of policies
// would. Where other roots disagree about a policy there is a bench of several
// engines and what any of them says counts.
type judge struct {
	cluster *admission.Cluster
	bench   []*seat

	mu      sync.Mutex
	limited map[string]*judge
}

// seat is one set of policies with the cluster it looks things up in.
type seat struct {
	cluster *admission.Cluster
	set     *policy.Set
	engine  *policy.Engine
}

// verdict is what a judge says about a request.
type verdict struct {
	// request is what was judged by policies, nil when it did not come to that.
	request *admission.Request
	// refusal is the server's own, before any policy.
	refusal *apierrors.StatusError
	// unknown is why the request could not be made at all.
	unknown error
	// warnings are the server's own.
	warnings []string
	// decisions are what policies said, in a fixed order.
	decisions     []policy.Decision
	indeterminate []unclear
	evaluations   int
}

// unclear is a policy that could not be judged by, and why.
type unclear struct{ policy, why string }

// reached reports whether policies were asked.
func (v *verdict) reached() bool { return v.refusal == nil && v.unknown == nil }

// ask puts a request to the judge. The error is only ever the context's.
func (j *judge) ask(ctx context.Context, ask admission.Ask) (v verdict, err error) {
	req, warnings, err := j.prepare(ctx, ask)
	v.warnings = warnings
	if cause := ctx.Err(); cause != nil {
		return v, fmt.Errorf("judge %s: %w", ask.Operation, cause)
	}
	if err != nil {
		never := new(admission.NeverStoredError)
		if !errors.As(err, &v.refusal) && !errors.As(err, &never) {
			v.unknown = err
		}
		return v, nil // of what was never stored there is nothing to say
	}
	v.request = req
	for _, s := range j.bench {
		out := s.engine.Evaluate(ctx, req)
		v.evaluations += out.Evaluations
		v.decisions = union(v.decisions, out.Decisions)
		for _, i := range out.Indeterminate {
			v.indeterminate = append(v.indeterminate, unclear{i.Policy.Name, i.Why})
		}
	}
	return v, ctx.Err()
}

// prepare is Prepare, in which a panic over an object is a failure to judge that
// object and no more.
func (j *judge) prepare(ctx context.Context, ask admission.Ask) (req *admission.Request, warnings []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("this object makes the API server's code panic: %v", p)
		}
	}()
	return j.cluster.Prepare(ctx, ask)
}

// only is the judge with just the named policies.
func (j *judge) only(compiler *policy.Compiler, names map[string]bool) *judge {
	key := strings.Join(slices.Sorted(maps.Keys(names)), " ")
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.limited[key] == nil {
		if j.limited == nil {
			j.limited = map[string]*judge{}
		}
		j.limited[key] = j.limit(compiler, names)
	}
	return j.limited[key]
}

func (j *judge) limit(compiler *policy.Compiler, names map[string]bool) *judge {
	limited := &judge{cluster: j.cluster}
	for _, s := range j.bench {
		set := &policy.Set{}
		for _, p := range s.set.Policies {
			if names[p.Name] {
				set.Policies = append(set.Policies, p)
			}
		}
		for _, b := range s.set.Bindings {
			if names[b.Spec.PolicyName] {
				set.Bindings = append(set.Bindings, b)
			}
		}
		limited.bench = append(limited.bench, &seat{
			cluster: s.cluster, set: set, engine: policy.NewEngine(s.cluster, compiler, set),
		})
	}
	return limited
}

// union adds the decisions that are not there yet.
func union(decisions, more []policy.Decision) []policy.Decision {
	for _, d := range more {
		if !contains(decisions, d) {
			decisions = append(decisions, d)
		}
	}
	return decisions
}

func contains(decisions []policy.Decision, d policy.Decision) bool {
	for _, other := range decisions {
		if sameDecision(other, d) {
			return true
		}
	}
	return false
}
