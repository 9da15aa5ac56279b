package config

import "github.com/preadmit/preadmit/scanner/impersonate"

const defaultServiceAccount = "system:serviceaccount:flux-system:kustomize-controller"

// DefaultUser returns the user of requests if none is configured: the Flux controller that applies
// Kustomizations.
func DefaultUser() User { return NewUser(defaultServiceAccount, nil) }

// NewUser returns a user with the groups that an API server adds for an impersonated
// user (kubectl --as, --as-group).
func NewUser(name string, groups []string) User {
	return User{Name: name, Groups: impersonate.Groups(name, groups)}
}

// complete adds the groups that the API server gives to users.
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
