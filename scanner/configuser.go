package scanner

import "strings"

const (
	groupServiceAccounts  = "system:serviceaccounts"
	groupAuthenticated    = "system:authenticated"
	groupUnauthenticated  = "system:unauthenticated"
	userAnonymous         = "system:anonymous"
	serviceAccountPrefix  = "system:serviceaccount:"
	defaultServiceAccount = serviceAccountPrefix + "flux-system:kustomize-controller"
)

// DefaultUser makes the requests when nothing else is said: the controller of Flux
// that applies kustomizations.
func DefaultUser() User { return NewUser(defaultServiceAccount, nil) }

// NewUser completes a user's groups as an API server does for an impersonated
// user (kubectl --as, --as-group): a service account without groups gets those of
// service accounts, and everyone but the anonymous user is authenticated.
func NewUser(name string, groups []string) User {
	user := User{Name: name, Groups: append([]string(nil), groups...)}
	if len(groups) == 0 {
		user.Groups = serviceAccountGroups(name)
	}
	for _, group := range user.Groups {
		if group == groupAuthenticated || group == groupUnauthenticated {
			return user
		}
	}
	if name == userAnonymous {
		user.Groups = append(user.Groups, groupUnauthenticated)
	} else {
		user.Groups = append(user.Groups, groupAuthenticated)
	}
	return user
}

// serviceAccountGroups are the fixed groups of a service account; nil for others.
func serviceAccountGroups(name string) []string {
	rest, ok := strings.CutPrefix(name, serviceAccountPrefix)
	if !ok {
		return nil
	}
	namespace, account, ok := strings.Cut(rest, ":")
	if !ok || namespace == "" || account == "" {
		return nil
	}
	return []string{groupServiceAccounts, groupServiceAccounts + ":" + namespace}
}

// complete fills in what a file leaves to the API server's rules.
func (c *Config) complete() {
	users := []*User{c.User}
	for i := range c.Targets {
		users = append(users, c.Targets[i].User)
	}
	for _, user := range users {
		if user != nil {
			*user = NewUser(user.Name, user.Groups)
		}
	}
}
