package typecheck

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/restmapper"

	"github.com/preadmit/preadmit/scanner/admission"
)

// restMapper returns a mapper of resources to kinds as clients of the server use it, from its
// discovery. It also maps singular names.
func restMapper(resources []admission.Resource) meta.RESTMapper {
	var groups []*restmapper.APIGroupResources
	byName := map[string]*restmapper.APIGroupResources{}
	for _, r := range resources {
		g := byName[r.Group]
		if g == nil {
			g = &restmapper.APIGroupResources{
				Group:              metav1.APIGroup{Name: r.Group},
				VersionedResources: map[string][]metav1.APIResource{},
			}
			byName[r.Group], groups = g, append(groups, g)
		}
		addVersion(g, r)
	}
	return restmapper.NewDiscoveryRESTMapper(groups)
}

// addVersion adds a resource to its group; the first version is the preferred one.
func addVersion(g *restmapper.APIGroupResources, r admission.Resource) {
	if _, ok := g.VersionedResources[r.Version]; !ok {
		v := metav1.GroupVersionForDiscovery{GroupVersion: r.GroupVersion().String(), Version: r.Version}
		g.Group.Versions = append(g.Group.Versions, v)
		if g.Group.PreferredVersion.Version == "" {
			g.Group.PreferredVersion = v
		}
	}
	g.VersionedResources[r.Version] = append(g.VersionedResources[r.Version], metav1.APIResource{
		Name: r.Resource, SingularName: r.Singular, Namespaced: r.Namespaced, Kind: r.Kind.Kind,
	})
}
