package scanner

import "github.com/preadmit/preadmit/scanner/admission"

const defaultServiceAccount = "system:serviceaccount:flux-system:kustomize-controller"

// DefaultUser makes the requests when nothing else is said: the controller of Flux
// that applies kustomizations.
func DefaultUser() User { return NewUser(defaultServiceAccount, nil) }

// NewUser completes a user's groups as an API server does for an impersonated
// user (kubectl --as, --as-group).
func NewUser(name string, groups []string) User {
	return User{Name: name, Groups: admission.GroupsOf(name, groups)}
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
