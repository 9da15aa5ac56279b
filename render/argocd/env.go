package argocd

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/scope"
)

// environment is the build environment of Argo CD: the variables that an Application may use in its options.
type environment map[string]string

// revision stands for the deployed commit, which is not known before it is made. It is searched for in rendered
// objects, so it begins with digits that nobody writes by chance.
const revision = "e7b90d4f36a1c85872fe60b9d3415ca8f29e7d06"

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

// expand replaces variables; `$$` becomes a dollar.
func (e environment) expand(text string) string {
	return os.Expand(text, func(name string) string {
		if name == "$" {
			return "$"
		}
		return e[name]
	})
}

// unknownFields returns the fields of an object that contain the commit.
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

// capabilities returns the version of Kubernetes and the API versions that charts see: those in the options of a
// source, or else those of the cluster. Charts see only the numbers of a version.
func (p *part) capabilities(kubeVersion string, apiVersions []string) (kube string, served []string, err error) {
	application := p.root.Unit.Application
	if kube = cmp.Or(kubeVersion, application.KubeVersion); kube != "" {
		parsed, err := version.ParseGeneric(kube)
		if err != nil {
			return "", nil, fmt.Errorf("could not parse kubernetes version %s: %w", kube, err)
		}
		kube = parsed.String()
	}
	if len(apiVersions) > 0 {
		return kube, apiVersions, nil
	}
	served = append(scope.Served(kube), application.APIVersions...)
	if len(application.APIVersions) == 0 {
		for _, d := range application.Definitions {
			served = append(served, d.APIVersions()...)
		}
	}
	return kube, served, nil
}

// knowsKinds reports whether all API versions that charts see are known: the options of a source or the configuration
// list them, or the cluster has no other custom kinds.
func (p *part) knowsKinds(apiVersions []string) bool {
	application := p.root.Unit.Application
	return len(apiVersions) > 0 || len(application.APIVersions) > 0 || application.KindsKnown
}
