package project

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gobwas/glob"

	"github.com/preadmit/preadmit/render/argocd"

	kjson "sigs.k8s.io/json"
)

// Project has the fields of an AppProject that permit or forbid something.
type Project struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		SourceRepos                     []string                    `json:"sourceRepos"`
		SourceNamespaces                []string                    `json:"sourceNamespaces"`
		Destinations                    []argocd.Destination        `json:"destinations"`
		ClusterResourceWhitelist        []Permitted                 `json:"clusterResourceWhitelist"`
		ClusterResourceBlacklist        []Permitted                 `json:"clusterResourceBlacklist"`
		NamespaceResourceWhitelist      []Permitted                 `json:"namespaceResourceWhitelist"`
		NamespaceResourceBlacklist      []Permitted                 `json:"namespaceResourceBlacklist"`
		PermitOnlyProjectScopedClusters bool                        `json:"permitOnlyProjectScopedClusters"`
		DestinationServiceAccounts      []DestinationServiceAccount `json:"destinationServiceAccounts"`
	} `json:"spec"`
}

// Permitted selects kinds in an AppProject. Name is a pattern for the names of cluster-scoped objects.
type Permitted struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// Parse decodes an AppProject. Argo CD creates the default project when it starts (server/server.go,
// initializeDefaultProject). A manifest applied to it does not change lists that it omits, so Parse sets these lists to
// the values from Argo CD.
func Parse(object json.RawMessage) (*Project, error) {
	p := &Project{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, p); err != nil {
		return nil, fmt.Errorf("not an AppProject of Argo CD: %w", err)
	}
	if p.Metadata.Name != argocd.DefaultProject {
		return p, nil
	}
	if p.Spec.SourceRepos == nil {
		p.Spec.SourceRepos = []string{"*"}
	}
	if p.Spec.Destinations == nil {
		p.Spec.Destinations = []argocd.Destination{{Server: "*", Namespace: "*"}}
	}
	if p.Spec.ClusterResourceWhitelist == nil {
		p.Spec.ClusterResourceWhitelist = []Permitted{{Group: "*", Kind: "*"}}
	}
	return p, nil
}

// Forbidden is something that an AppProject forbids an Application to use.
type Forbidden struct {
	// Field is the field of the Application that violates the project.
	Field string
	// Message is Argo CD's message.
	Message string
}

// Undecided returns the field of an Application because of which it is not known what the AppProject forbids, and the
// reason; empty if it is known. to is the destination; its server and name are known if whole is set.
func (p *Project) Undecided(to argocd.Destination, whole bool) (field, why string) {
	unknown := func(d argocd.Destination) bool {
		return to.Server == "" && d.Server != "" && d.Server != "*" || to.Name == "" && d.Name != "" && d.Name != "*"
	}
	switch {
	case p.Spec.PermitOnlyProjectScopedClusters:
		return "spec.project", fmt.Sprintf("the AppProject %s permits only its own clusters, and which these are is not known: what it forbids is not judged", p.Metadata.Name)
	case !whole && slices.ContainsFunc(p.Spec.Destinations, unknown):
		return "spec.destination", fmt.Sprintf("whether the AppProject %s permits its destination is not known: %s is none of argocd.clusters of the configuration", p.Metadata.Name, cmp.Or(to.Name, to.Server))
	}
	return "", ""
}

// Forbids returns the reasons why Argo CD applies nothing of an Application. to is its destination, as far as it is
// known, and own the namespace of Argo CD.
func (p *Project) Forbids(a *argocd.Application, to argocd.Destination, own string) []Forbidden {
	var all []Forbidden
	if namespace := a.Metadata.Namespace; namespace != "" && namespace != own && !slices.ContainsFunc(p.Spec.SourceNamespaces, func(pattern string) bool { return matchesName(pattern, namespace) }) {
		all = append(all, Forbidden{"metadata.namespace", fmt.Sprintf("application '%s' in namespace '%s' is not allowed to use project '%s'", a.Metadata.Name, namespace, p.Metadata.Name)})
	}
	for i, s := range a.AllSources() {
		if !p.permitsSource(s.RepoURL) {
			all = append(all, Forbidden{a.SourceField(i) + ".repoURL", fmt.Sprintf("application repo %s is not permitted in project '%s'", s.RepoURL, p.Metadata.Name)})
		}
	}
	if !p.permitsDestination(to) {
		where := "server '" + to.Server + "'"
		if a.Spec.Destination.Server == "" {
			where = "server '" + cmp.Or(to.Server, to.Name) + "'"
		}
		all = append(all, Forbidden{"spec.destination.namespace", fmt.Sprintf("application destination %s and namespace '%s' do not match any of the allowed destinations in project '%s'", where, to.Namespace, p.Metadata.Name)})
	}
	return all
}

// ForbidsObject returns why Argo CD does not apply an object; empty if it does. namespaced is set for an object of a
// namespaced kind, even if it has no namespace.
func (p *Project) ForbidsObject(group, kind, namespace, name string, namespaced bool, to argocd.Destination) string {
	if !p.permitsKind(group, kind, name, namespaced) {
		return fmt.Sprintf("resource %s:%s is not permitted in project %s", group, kind, p.Metadata.Name)
	}
	if to.Namespace = namespace; namespaced && !p.permitsDestination(to) {
		return fmt.Sprintf("namespace %s is not permitted in project '%s'", namespace, p.Metadata.Name)
	}
	return ""
}

// permitsKind reports whether objects of a kind are permitted. Without a list, all namespaced kinds are permitted.
// Cluster-scoped kinds must be listed.
func (p *Project) permitsKind(group, kind, name string, namespaced bool) bool {
	in := func(list []Permitted, name string) bool {
		return slices.ContainsFunc(list, func(item Permitted) bool {
			return matchesPath(item.Kind, kind) && matchesPath(item.Group, group) && (item.Name == "" || name == "" || matchesPath(item.Name, name))
		})
	}
	if namespaced {
		allowed := p.Spec.NamespaceResourceWhitelist
		return (allowed == nil || in(allowed, "")) && !in(p.Spec.NamespaceResourceBlacklist, "")
	}
	return in(p.Spec.ClusterResourceWhitelist, name) && !in(p.Spec.ClusterResourceBlacklist, name)
}

// permitsSource reports whether a repository may be a source: a pattern permits it, and no pattern with a `!` matches
// it.
func (p *Project) permitsSource(repository string) bool {
	permitted, normal := false, normalURL(repository)
	for _, pattern := range p.Spec.SourceRepos {
		pattern, denied := strings.CutPrefix(pattern, "!")
		switch matched := matches(normalURL(pattern), normal, '/'); {
		case denied && matched:
			return false
		case denied || matched:
			permitted = true
		}
	}
	return permitted
}

// permitsDestination reports whether a destination is permitted: an entry permits it, and no entry with a `!` matches
// it.
func (p *Project) permitsDestination(to argocd.Destination) bool {
	permitted := false
	for _, d := range p.Spec.Destinations {
		name, server := permitsCluster(d.Name, to.Name), permitsCluster(d.Server, to.Server)
		namespace := permits(d.Namespace, to.Namespace)
		switch {
		case (name || server) && namespace:
			permitted = true
		case !name && isDenial(d.Name), !server && isDenial(d.Server), !namespace && isDenial(d.Namespace):
			return false
		}
	}
	return permitted
}

// permitsCluster reports whether a pattern permits the name or the server of a cluster. Argo CD knows both of every
// cluster, so `*` permits one that is not known here as well.
func permitsCluster(pattern, value string) bool {
	if value == "" {
		return pattern == "*"
	}
	return permits(pattern, value)
}

func isDenial(pattern string) bool { return strings.HasPrefix(pattern, "!") }

// permits reports whether a pattern matches, or one with a `!` does not.
func permits(pattern, value string) bool {
	pattern, denied := strings.CutPrefix(pattern, "!")
	return matches(pattern, value) != denied
}

// matches reports whether a glob pattern matches. Without separators, `*` matches any character.
func matches(pattern, value string, separators ...rune) bool {
	if pattern == "*" {
		return true
	}
	g, err := glob.Compile(pattern, separators...)
	return err == nil && g.Match(value)
}

// matchesPath reports whether a pattern for kinds or groups matches.
func matchesPath(pattern, value string) bool {
	ok, err := path.Match(pattern, value)
	return ok && err == nil
}

// matchesName reports whether a pattern for namespaces matches: a regular expression between slashes, or a glob.
func matchesName(pattern, value string) bool {
	if len(pattern) > 1 && strings.HasPrefix(pattern, "/") && strings.HasSuffix(pattern, "/") {
		expression, err := regexp.Compile(pattern[1 : len(pattern)-1])
		return err == nil && expression.MatchString(value)
	}
	return matches(pattern, value)
}

// normalURL returns the URL of a repository, or a pattern for URLs, in the form in which AppProjects compare them.
func normalURL(repository string) string {
	repository = strings.ToLower(strings.TrimSpace(repository))
	if at := strings.Index(repository, "@"); at > 0 && !strings.Contains(repository, "://") { // git@host:path
		repository = "ssh://" + strings.Replace(repository, ":", "/", 1)
	}
	u, err := url.Parse(strings.TrimSuffix(repository, ".git"))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.String(), "ssh://")
}
