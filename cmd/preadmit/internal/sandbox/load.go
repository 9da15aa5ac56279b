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

// senders is how many objects are sent concurrently.
const senders = 8

// Loader loads the state of a cluster into a server.
type Loader struct {
	// Progress, when set, is called as objects are sent.
	Progress func(stage string, done, total int)

	client    *client
	discovery *discovery.DiscoveryClient
	mapper    meta.RESTMapper
}

// NewLoader returns a loader for a server.
func NewLoader(s *Server) (*Loader, error) { return NewLoaderOf(s.config) }

// NewLoaderOf returns a loader for the server of a client configuration.
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

// discover updates the mapper with the kinds that the server serves.
func (l *Loader) discover() error {
	groups, err := restmapper.GetAPIGroupResources(l.discovery)
	if err != nil {
		return fmt.Errorf("ask the server for its kinds: %w", err)
	}
	l.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	return nil
}

// Loaded is the state that was loaded into a server.
type Loaded struct {
	// Results has the server's answer for each object, in the order of the deployment: the
	// objects that are judged, then the given context.
	Results []Result
	// Namespaces are the created namespaces: objects are in them, but nothing defines them.
	Namespaces []string
	// Unserved are the definitions whose kinds the server does not serve, with the reason.
	Unserved []string
	// Admins are the users who were made cluster-admin, because the state does not grant them
	// the rights to apply it.
	Admins []string
}

// Result is the server's answer for an object.
type Result struct {
	scanner.Applied
	// Given is set for an object of the given context, for which no answer is expected.
	Given bool
	// Answer is the server's answer.
	Answer policy.Verdict
	// Again is set for an object that another root also defines and that was already sent.
	Again bool
	// Kept is set for an object that the server already has unchanged.
	Kept bool
	// NoKind is the message that the server does not serve the object's kind, empty if it does.
	NoKind string
	// open has the names of the policies that take no Secret as their param.
	open map[string]bool
	// made is set if the object did not exist before.
	made bool
	// created is set if the object was sent to be created when all policies were in force.
	created bool
}

// Why returns the reason why the server does not have the object.
func (r *Result) Why() string {
	if r.NoKind != "" {
		return r.NoKind
	}
	return r.shown(r.Answer.Message)
}

// stages are the stages of loading, in order: each needs the objects of the previous ones.
var stages = []string{"definitions", "namespaces", "what decides", "policies", "objects"}

// stageOf returns the stage in which an object is loaded, as an index of stages.
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
	if err := l.allow(ctx, append(users, probeUser)); err != nil {
		return nil, err
	}
	err := l.stages(ctx, out, func() (err error) {
		out.Admins, err = l.disallow(ctx, users)
		return err
	})
	return out, err
}

// NewLoaded returns the results for the objects of a cluster, before anything is sent.
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

// stages sends the objects stage by stage. It calls decided when everything that decides about
// objects, except policies, is loaded.
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

// sendAgain clears Kept for the objects that the server has lost, so that they are sent again.
func (l *Loaded) sendAgain(lost func(*Result) bool) {
	for i := range l.Results {
		if r := &l.Results[i]; r.Kept && lost(r) {
			r.Kept, r.Answer = false, policy.Verdict{}
		}
	}
}

// inMade reports whether an object belongs to a definition or a Namespace that did not exist before.
func inMade(r *Result, l *Loaded) bool {
	return slices.Contains(l.Namespaces, r.Key.Namespace) || slices.ContainsFunc(l.Results, func(d Result) bool {
		return d.made && holds(&d, r)
	})
}

// holds reports whether d is the definition or the Namespace of r.
func holds(d, r *Result) bool {
	switch d.Object.GroupVersionKind().GroupKind() {
	case kinds.Definition:
		return definedKind(d) == r.Object.GroupVersionKind().GroupKind()
	case kinds.Namespace:
		return d.Object.Name() == r.Key.Namespace
	}
	return false
}

// stage sends the objects of a stage, and returns their number.
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

// each calls do for each result, several concurrently.
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

// noKind returns the message that the server does not serve the kind of an object.
func noKind(o *admission.Object, err error) string {
	kind := o.GroupVersionKind()
	if noMatch := new(meta.NoKindMatchError); errors.As(err, &noMatch) {
		return fmt.Sprintf("the server does not serve %s %s: nothing that was loaded defines it", kind.GroupVersion(), kind.Kind)
	}
	return err.Error()
}

// verdictOf returns an answer of the server as a verdict, to compare with that of a scan.
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

// Again returns the number of objects that were not sent because another root also defines them.
func (l *Loaded) Again() int {
	n := 0
	for _, r := range l.Results {
		if r.Again {
			n++
		}
	}
	return n
}

// Roots returns the number of roots that the objects belong to.
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

// CheckVersion returns an error if the server has another release than the one that a scan imitates.
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
