package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/policy"
)

// senders is how many objects are sent at once.
const senders = 8

// Loader loads the state of a cluster into a server.
type Loader struct {
	// Progress, when set, is called as objects are sent.
	Progress func(stage string, done, total int)

	client    *client
	discovery *discovery.DiscoveryClient
	mapper    meta.RESTMapper
}

// NewLoader returns what loads a server.
func NewLoader(s *Server) (*Loader, error) { return NewLoaderOf(s.config) }

// NewLoaderOf returns what loads the server that a client's configuration is of.
func NewLoaderOf(config *rest.Config) (*Loader, error) {
	l := &Loader{}
	var err error
	if l.client, err = newClient(config); err != nil {
		return nil, err
	}
	if l.discovery, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client of the server: %w", err)
	}
	return l, l.discover()
}

// discover learns the kinds that the server serves.
func (l *Loader) discover() error {
	groups, err := restmapper.GetAPIGroupResources(l.discovery)
	if err != nil {
		return fmt.Errorf("ask the server for its kinds: %w", err)
	}
	l.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	return nil
}

// Loaded is what a server was given.
type Loaded struct {
	// Results are what it said to each object, in the order of the deployment: those that are
	// judged, then those that were given.
	Results []Result
	// Namespaces are those that nothing defines and objects are in.
	Namespaces []string
	// Unserved are definitions that the server has and whose kinds it does not serve, with why.
	Unserved []string
	// Admins are users whom the state does not give the rights to apply it.
	Admins []string
}

// Result is what a server said to an object.
type Result struct {
	scanner.Applied
	// Given is set for an object of which no answer is expected.
	Given bool
	// Answer is the server's.
	Answer policy.Verdict
	// Again is set for an object that another root defines as well, which was sent before.
	Again bool
	// Kept is set for an object that the server has from before, as it is.
	Kept bool
	// NoKind says that the server does not serve the kind of the object, empty if it does.
	NoKind string
	// open has the policies that were sent and read no Secret but the object that they judge.
	open map[string]bool
	// made is set if the object was not there before.
	made bool
	// created is set if the object was not there before, and all policies were in force.
	created bool
}

// Why is why the server does not have the object.
func (r *Result) Why() string {
	if r.NoKind != "" {
		return r.NoKind
	}
	return r.shown(r.Answer.Message)
}

// stages are the steps of loading, each of which needs what those before it load.
var stages = []string{"definitions", "namespaces", "what decides", "policies", "objects"}

// stageOf returns the step in which an object is loaded.
func stageOf(a scanner.Applied) int {
	switch kind := a.Object.GroupVersionKind().GroupKind(); {
	case kind == kinds.Definition:
		return 0
	case kind == kinds.Namespace:
		return 1
	case kinds.IsPolicy(kind):
		return 3
	case a.Decides:
		return 2
	}
	return 4
}

// Load creates the objects of a cluster on the server.
func (l *Loader) Load(ctx context.Context, d scanner.Deployed) (*Loaded, error) {
	out := NewLoaded(d)
	users := usersOf(out.Results)
	if err := l.allow(ctx, append(users, ghost)); err != nil {
		return nil, err
	}
	err := l.stages(ctx, out, func() (err error) {
		out.Admins, err = l.disallow(ctx, users)
		return err
	})
	return out, err
}

// NewLoaded returns what is to be sent of the objects of a cluster.
func NewLoaded(d scanner.Deployed) *Loaded {
	out := &Loaded{}
	first := map[admission.Key]bool{}
	for _, a := range d.Applied {
		out.Results = append(out.Results, Result{Applied: a, Again: a.Object.Name() != "" && first[a.Key]})
		first[a.Key] = true
	}
	for _, a := range d.Given {
		out.Results = append(out.Results, Result{Applied: a, Given: true})
	}
	open := openPolicies(out.Results)
	for i := range out.Results {
		out.Results[i].open = open
	}
	return out
}

// stages sends the objects step by step. decided is called when what decides is loaded, but for
// policies.
func (l *Loader) stages(ctx context.Context, out *Loaded, decided func() error) error {
	for stage := range stages {
		sent, err := l.stage(ctx, out, stage)
		if err != nil {
			return err
		}
		switch {
		case stage == 0 && sent > 0:
			err = l.established(ctx, out)
		case stage == 1:
			out.Namespaces, err = l.missingNamespaces(ctx, out)
		case stage == 2:
			if err = decided(); err == nil {
				err = l.counted(ctx, out)
			}
		case stage == 3 && sent > 0:
			err = l.inForce(ctx)
		}
		if err != nil {
			return err
		}
		if stage <= 1 {
			out.sendAgain(func(r *Result) bool { return inMade(r, out) })
		}
	}
	return nil
}

// sendAgain has objects sent that the server was taken to have.
func (l *Loaded) sendAgain(lost func(*Result) bool) {
	for i := range l.Results {
		if r := &l.Results[i]; r.Kept && lost(r) {
			r.Kept, r.Answer = false, policy.Verdict{}
		}
	}
}

// inMade reports whether an object is of a definition, or in a Namespace, that was not there before.
func inMade(r *Result, l *Loaded) bool {
	return slices.Contains(l.Namespaces, r.Key.Namespace) || slices.ContainsFunc(l.Results, func(d Result) bool {
		return d.made && holds(&d, r)
	})
}

// holds reports whether an object is the definition or the Namespace of another.
func holds(d, r *Result) bool {
	switch d.Object.GroupVersionKind().GroupKind() {
	case kinds.Definition:
		return definedKind(d) == r.Object.GroupVersionKind().GroupKind()
	case kinds.Namespace:
		return d.Object.Name() == r.Key.Namespace
	}
	return false
}

// stage sends the objects of a step, and counts them.
func (l *Loader) stage(ctx context.Context, out *Loaded, stage int) (sent int, err error) {
	var those []*Result
	for i := range out.Results {
		if r := &out.Results[i]; !r.Again && !r.Kept && stageOf(r.Applied) == stage {
			those = append(those, r)
		}
	}
	return len(those), l.each(ctx, "load "+stages[stage], those, func(ctx context.Context, r *Result) error {
		at, err := l.place(r.Applied)
		if err != nil {
			r.NoKind = noKind(r.Object, err)
			return nil
		}
		got, err := l.send(ctx, at, r.Applied)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Key, err)
		}
		r.Answer = verdictOf(got)
		r.made = got.Code == http.StatusCreated
		r.created = stage == len(stages)-1 && (!got.ok() || got.Code == http.StatusCreated)
		return nil
	})
}

// each does something with results, several at once.
func (l *Loader) each(ctx context.Context, stage string, those []*Result, do func(context.Context, *Result) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(senders)
	var done atomic.Int64
	for _, r := range those {
		g.Go(func() error {
			err := do(ctx, r)
			if l.Progress != nil {
				l.Progress(stage, int(done.Add(1)), len(those))
			}
			return err
		})
	}
	return g.Wait()
}

// noKind says that the server does not serve the kind of an object.
func noKind(o *admission.Object, err error) string {
	kind := o.GroupVersionKind()
	if noMatch := new(meta.NoKindMatchError); errors.As(err, &noMatch) {
		return fmt.Sprintf("the server does not serve %s %s: nothing that was loaded defines it", kind.GroupVersion(), kind.Kind)
	}
	return err.Error()
}

// verdictOf returns an answer of the server as a scan has it.
func verdictOf(a *answer) policy.Verdict {
	v := policy.Verdict{Allowed: a.ok(), Warnings: a.Warnings}
	if !v.Allowed {
		status := a.status()
		v.Code, v.Reason, v.Message = int32(a.Code), status.Reason, status.Message
	}
	return v
}

// Refused returns the results of objects that the server does not have.
func (l *Loaded) Refused() []*Result {
	var refused []*Result
	for i := range l.Results {
		if r := &l.Results[i]; !r.Again && !r.Answer.Allowed {
			refused = append(refused, r)
		}
	}
	return refused
}

// Again counts the objects that were left out because another root defines them as well.
func (l *Loaded) Again() int {
	n := 0
	for _, r := range l.Results {
		if r.Again {
			n++
		}
	}
	return n
}

// Roots counts the roots that objects are of.
func (l *Loaded) Roots() int {
	var roots []string
	for _, r := range l.Results {
		if !r.Given {
			roots = append(roots, r.Root)
		}
	}
	slices.Sort(roots)
	return len(slices.Compact(roots))
}

// CheckVersion refuses a server of another release than the one that a scan judges as.
func (l *Loader) CheckVersion(want string) error {
	info, err := l.discovery.ServerVersion()
	if err != nil {
		return fmt.Errorf("ask the server for its version: %w", err)
	}
	if info.GitVersion != want {
		return fmt.Errorf("%s serves Kubernetes %s, and this preadmit judges as %s: install both in the same version", Program, info.GitVersion, want)
	}
	return nil
}
