package project

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/preadmit/preadmit/render/argocd"
)

// DestinationServiceAccount is the service account that syncs to a destination impersonate.
type DestinationServiceAccount struct {
	Server                string `json:"server"`
	Namespace             string `json:"namespace"`
	DefaultServiceAccount string `json:"defaultServiceAccount"`
}

// Impersonates returns the user that a sync of an Application to a destination impersonates. known is false if it
// depends on the server of the destination and that is not known. The error is the reason why the sync fails
// (controller/sync.go of Argo CD, deriveServiceAccountToImpersonate).
func (p *Project) Impersonates(a *argocd.Application, to argocd.Destination) (user string, known bool, err error) {
	namespace := a.Spec.Destination.Namespace
	for _, d := range p.Spec.DestinationServiceAccounts {
		if !matches(d.Namespace, namespace) {
			continue
		}
		if to.Server == "" && d.Server != "*" {
			return "", false, nil
		}
		if to.Server != "" && !matches(d.Server, to.Server) {
			continue
		}
		account := d.DefaultServiceAccount
		if strings.TrimSpace(account) == "" || strings.ContainsAny(account, "!*[]{}\\/") {
			return "", true, fmt.Errorf("default service account contains invalid chars '%s'", account)
		}
		if strings.Contains(account, ":") {
			return "system:serviceaccount:" + account, true, nil
		}
		return fmt.Sprintf("system:serviceaccount:%s:%s", cmp.Or(namespace, a.Metadata.Namespace), account), true, nil
	}
	return "", true, fmt.Errorf("no matching service account found for destination server %s and namespace %s", to.Server, namespace)
}
