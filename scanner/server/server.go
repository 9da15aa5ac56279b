package server

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/expressions"
)

// Server answers requests as an API server would. The decisions of the policies of all its views
// count. It is safe for concurrent use.
type Server struct {
	compiler  *policy.Compiler
	mutations *mutation.Compiler
	views     []view

	mu      sync.Mutex
	limited map[string]*Server
}

type view struct {
	View
	engine *policy.Engine
	// mutator runs the mutating policies of the view; nil when there are none.
	mutator admission.Mutator
	// reads returns the reads of the expressions of a policy, by its name.
	reads map[string]func() ([]expressions.Read, error)
}

func newServer(compiler *policy.Compiler, mutations *mutation.Compiler, views []View) *Server {
	s := &Server{compiler: compiler, mutations: mutations, limited: map[string]*Server{}}
	for _, v := range views {
		one := view{View: v, engine: policy.NewEngine(v.Cluster, compiler, v.Policies), reads: readsOf(v.Policies)}
		if plugin := mutation.New(v.Cluster, v.Policies, mutations); plugin != nil {
			one.mutator = plugin
		}
		for _, other := range s.views {
			if other.mutatesAs(v) {
				one.mutator = other.mutator
			}
		}
		s.views = append(s.views, one)
	}
	return s
}

// mutatesAs reports whether the mutating policies of a view have the same effect as those of another.
func (v view) mutatesAs(other View) bool {
	return slices.Equal(v.View.Policies.Mutations, other.Policies.Mutations) &&
		slices.Equal(v.View.Policies.MutationBindings, other.Policies.MutationBindings) &&
		(v.Cluster == other.Cluster || !slices.ContainsFunc(other.Policies.Mutations, func(m *policy.Mutation) bool { return m.Spec.ParamKind != nil }))
}

// Mutator returns the mutator of the objects of requests; nil when there is none.
func (s *Server) Mutator() admission.Mutator { return s.views[0].mutator }

// Cluster returns the cluster that prepares requests.
func (s *Server) Cluster() *admission.Cluster { return s.views[0].Cluster }

// Policies returns the policies of all views, those of a view sorted by name.
func (s *Server) Policies() []*policy.Policy {
	var all []*policy.Policy
	for _, set := range s.PolicySets() {
		all = append(all, set.Policies...)
	}
	return all
}

// PolicySets returns the policies and bindings of each view.
func (s *Server) PolicySets() []*policy.Set {
	var all []*policy.Set
	for _, v := range s.views {
		all = append(all, v.View.Policies)
	}
	return all
}

// Engines returns the engines that evaluate the policies of each view.
func (s *Server) Engines() []*policy.Engine {
	var all []*policy.Engine
	for _, v := range s.views {
		all = append(all, v.engine)
	}
	return all
}

// Only returns the server with only the named policies.
func (s *Server) Only(names map[string]bool) *Server {
	key := strings.Join(slices.Sorted(maps.Keys(names)), " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limited[key] == nil {
		views := []View{}
		for _, v := range s.views {
			views = append(views, View{Cluster: v.Cluster, Policies: v.Policies.Only(names)})
		}
		s.limited[key] = newServer(s.compiler, s.mutations, views)
	}
	return s.limited[key]
}
