package admission

import (
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// TestAuthorizerIsLazy: the RBAC objects of a state are not read before the first check: a repository may
// have hundreds of clusters, and policies seldom check rights.
func TestAuthorizerIsLazy(t *testing.T) {
	c := NewCluster(ClusterOptions{}, NewIndex(nil))
	read, rbac := false, c.rbac
	c.rbac = func() *rbacAuthorizer {
		read = true
		return rbac()
	}
	a, _ := c.Authorizer()
	if read {
		t.Error("RBAC objects are read without a question")
	}
	for group, want := range map[string]authorizer.Decision{user.SystemPrivilegedGroup: authorizer.DecisionAllow, "others": authorizer.DecisionNoOpinion} {
		asked := authorizer.AttributesRecord{User: &user.DefaultInfo{Name: "u", Groups: []string{group}}, Verb: "get", Resource: "pods", APIVersion: "v1", ResourceRequest: true}
		if got, _, err := a.Authorize(t.Context(), asked); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", group, got, err, want)
		}
	}
	if !read {
		t.Error("what RBAC objects allow is said without reading them")
	}
}
