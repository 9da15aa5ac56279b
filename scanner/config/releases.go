package config

import (
	"fmt"
	"slices"

	"github.com/preadmit/preadmit/scanner/release"
)

func (c *checker) version(key, version string) {
	if !c.Has(key) || c.Failed(key) {
		return
	}
	if _, err := release.ParseVersion(version); err != nil {
		c.Fail(key, "%v", err)
	}
}

func (c *checker) runtimeConfig(key string, apis map[string]bool) {
	if !c.Has(key) || c.Failed(key) {
		return
	}
	if _, err := release.ParseRuntimeConfig(release.Settings(apis)); err != nil {
		c.Fail(key, "%v", err)
	}
}

// Release returns the release of API servers that targets do not override.
func (c *Config) Release() (release.Release, error) {
	return releaseOf(c.KubernetesVersion, c.FeatureGates, c.RuntimeConfig)
}

// ReleaseOf returns the release of the API server of a target.
func (c *Config) ReleaseOf(t *Target) (release.Release, error) {
	version, gates, apis := t.KubernetesVersion, t.FeatureGates, t.RuntimeConfig
	if version == "" {
		version = c.KubernetesVersion
	}
	if gates == nil {
		gates = c.FeatureGates
	}
	if apis == nil {
		apis = c.RuntimeConfig
	}
	r, err := releaseOf(version, gates, apis)
	if err != nil && t.Name != "" {
		err = fmt.Errorf("target %s: %w", t.Name, err)
	}
	return r, err
}

func releaseOf(version string, gates, apis map[string]bool) (release.Release, error) {
	r := release.Release{FeatureGates: release.Settings(gates), RuntimeConfig: release.Settings(apis)}
	if version == "" {
		return r.Normal(), nil
	}
	var err error
	r.Version, err = release.ParseVersion(version)
	return r, err
}

// Releases returns the releases of all targets, each once, in the order of the targets. Without
// targets it returns that of Release.
func (c *Config) Releases() ([]release.Release, error) {
	if len(c.Targets) == 0 {
		r, err := c.Release()
		return []release.Release{r}, err
	}
	var all []release.Release
	for i := range c.Targets {
		r, err := c.ReleaseOf(&c.Targets[i])
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all, nil
}
