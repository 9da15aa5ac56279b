package chart

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/tree"
)

// Complete returns an error for a chart that lacks a dependency of its Chart.yaml, as Helm's commands do
// (helm.sh/helm/v4/pkg/action, CheckDependencies). Helm's packages, and so Flux, render such a chart.
func Complete(c *chart.Chart) error {
	for _, wanted := range c.Metadata.Dependencies {
		if wanted != nil && !slices.ContainsFunc(c.Dependencies(), func(d *chart.Chart) bool { return d.Name() == wanted.Name }) {
			return fmt.Errorf("its dependency %s is in Chart.yaml, but not in charts/: helm dependency build gets it", wanted.Name)
		}
	}
	return nil
}

// errStale and errStale1 are errors of `helm dependency build`, for charts with apiVersion v2 and v1.
var (
	errStale  = errors.New("the lock file (Chart.lock) is out of sync with the dependencies file (Chart.yaml). Please update the dependencies with 'helm dependency update'")
	errStale1 = errors.New("the lock file (requirements.lock) is out of sync with the dependencies file (requirements.yaml). Please update the dependencies")
)

// Stale returns the error of `helm dependency build` for a chart whose lock file was made for other
// dependencies (helm.sh/helm/v4/pkg/downloader, Build).
func Stale(t *tree.Tree, dir string) error {
	c, err := FromTree(t, dir, Limits{})
	if err != nil || c.Lock == nil {
		return nil // rendering the chart reports the error
	}
	required := c.Metadata.Dependencies
	if slices.ContainsFunc(required, func(d *chart.Dependency) bool {
		return d != nil && (strings.HasPrefix(d.Repository, "@") || strings.HasPrefix(d.Repository, "alias:"))
	}) {
		return nil // the digest includes the URLs that these names stand for
	}
	switch {
	case digest([2][]*chart.Dependency{required, c.Lock.Dependencies}) == c.Lock.Digest:
		return nil
	case c.Metadata.APIVersion != chart.APIVersionV1:
		return errStale
	case digest(map[string][]*chart.Dependency{"dependencies": required}) == c.Lock.Digest: // made by Helm 2
		return nil
	}
	return errStale1
}

func digest(of any) string {
	data, err := json.Marshal(of)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
