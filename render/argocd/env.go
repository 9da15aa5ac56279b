package argocd

import (
	"os"
	"strings"

	"github.com/preadmit/preadmit/render"
)

// environment are the variables that an Application may use in its options (the build
// environment of Argo CD).
type environment map[string]string

// revision stands for the commit that is deployed, which is not known before it is made. It is
// found again in what is rendered.
const revision = "0123456789abcdef0123456789abcdef01234567"

const unknownRevision = "it holds the commit that is deployed, which is not known before it is made"

func environmentOf(app *Application, instance string, s *Source) environment {
	return environment{
		"ARGOCD_APP_NAME":                   instance,
		"ARGOCD_APP_NAMESPACE":              app.Spec.Destination.Namespace,
		"ARGOCD_APP_PROJECT_NAME":           app.Spec.Project,
		"ARGOCD_APP_REVISION":               revision,
		"ARGOCD_APP_REVISION_SHORT":         revision[:7],
		"ARGOCD_APP_REVISION_SHORT_8":       revision[:8],
		"ARGOCD_APP_SOURCE_REPO_URL":        s.RepoURL,
		"ARGOCD_APP_SOURCE_PATH":            s.Path,
		"ARGOCD_APP_SOURCE_TARGET_REVISION": s.TargetRevision,
	}
}

// expand replaces variables; `$$` is a dollar.
func (e environment) expand(text string) string {
	return os.Expand(text, func(name string) string {
		if name == "$" {
			return "$"
		}
		return e[name]
	})
}

// unknownFields are the fields of an object that the commit is in.
func unknownFields(o *render.Object) []render.Unknown {
	if !strings.Contains(string(o.JSON), revision[:7]) {
		return nil
	}
	return render.FieldsWith(o.Content(), func(text string) string {
		if strings.Contains(text, revision[:7]) {
			return unknownRevision
		}
		return ""
	})
}
