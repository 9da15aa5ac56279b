package impersonate

import (
	"slices"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Groups returns all groups of a user with the groups of a request: a service account without
// groups gets those of service accounts, and every user except the anonymous one is authenticated.
func Groups(name string, groups []string) []string {
	groups = slices.Clone(groups)
	if namespace, _, err := serviceaccount.SplitUsername(name); err == nil && len(groups) == 0 {
		groups = serviceaccount.MakeGroupNames(namespace)
	}
	switch {
	case slices.Contains(groups, user.AllAuthenticated) || slices.Contains(groups, user.AllUnauthenticated):
		return groups
	case name == user.Anonymous:
		return append(groups, user.AllUnauthenticated)
	}
	return append(groups, user.AllAuthenticated)
}
