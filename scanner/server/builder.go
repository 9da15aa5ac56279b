package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
)

// Options configure the servers of a Builder.
type Options struct {
	admission.ClusterOptions
	// User is the author of the policies; its rights decide whether a server accepts them.
	User user.Info
	// Applier returns the tool that applies a policy or binding, "" if none does; it may be nil.
	Applier func(*admission.Object) apply.Applier
	// Compiler compiles the policies; nil for a compiler of the Builder's own.
	Compiler *policy.Compiler
}

// Builder assembles servers. It is safe for concurrent use.
type Builder struct {
	opts Options

	mu       sync.Mutex
	clusters map[string]*admission.Cluster
	loader   *policy.Loader
	loaded   []*Loaded
	servers  map[string]*Server

	mutations mutation.Compiler
}

// NewBuilder returns a Builder.
func NewBuilder(opts Options) *Builder {
	if opts.Compiler == nil {
		opts.Compiler = policy.NewCompiler()
	}
	return &Builder{opts: opts, loader: policy.NewLoader(opts.User, opts.Applier), clusters: map[string]*admission.Cluster{}, servers: map[string]*Server{}}
}

// Cluster returns the cluster with the objects of layers; those of earlier layers take precedence.
// Equal layers return the same cluster.
func (b *Builder) Cluster(layers ...*admission.Index) *admission.Cluster {
	key := pointers(layers)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clusters[key] == nil {
		b.clusters[key] = admission.NewCluster(b.opts.ClusterOptions, layers...)
	}
	return b.clusters[key]
}

// Loaded are the policies and bindings that an API server accepts, and those that it refuses.
type Loaded struct {
	Set      *policy.Set
	Refusals []policy.Refusal

	objects []*admission.Object
}

// Load checks the policies and bindings among objects as an API server does. Equal lists of objects
// are loaded once.
func (b *Builder) Load(ctx context.Context, cluster *admission.Cluster, objects []*admission.Object) *Loaded {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.loaded {
		if slices.Equal(l.objects, objects) {
			return l
		}
	}
	l := &Loaded{objects: objects}
	l.Set, l.Refusals = b.loader.Load(ctx, cluster, objects)
	b.loaded = append(b.loaded, l)
	return l
}

// View is a set of policies and the cluster in which they look up objects.
type View struct {
	Cluster  *admission.Cluster
	Policies *policy.Set
}

// Server returns the server with the policies of views. There are several if the roots of a
// repository define a policy differently. The first view's cluster prepares requests. Equal views
// return the same server.
func (b *Builder) Server(views ...View) *Server {
	keys := []string{}
	for _, v := range views {
		keys = append(keys, fmt.Sprintf("%p %p", v.Cluster, v.Policies))
	}
	key := strings.Join(keys, " ")
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.servers[key] == nil {
		b.servers[key] = newServer(b.opts.Compiler, &b.mutations, views)
	}
	return b.servers[key]
}

func pointers[T any](list []*T) string {
	var key strings.Builder
	for _, p := range list {
		fmt.Fprintf(&key, "%p ", p)
	}
	return key.String()
}
