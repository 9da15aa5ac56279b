// Package emulation makes the process imitate the API server of one Kubernetes release, with
// Kubernetes' own means: the emulation version of the component (KEP-4330), which determines feature
// gates, served APIs and CEL environments. All of that is state of the process, so another release
// needs another process.
package emulation

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/version"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"

	// Feature gates register themselves.
	_ "k8s.io/apiextensions-apiserver/pkg/features"
	_ "k8s.io/kubernetes/pkg/features"

	"github.com/preadmit/preadmit/scanner/release"
)

// ErrDecided is the error of a process that imitates another release already.
var ErrDecided = errors.New("this process imitates another release of Kubernetes already")

var (
	mu      sync.Mutex
	current = release.Release{Version: release.Latest}
	decided bool
	// apis are the enabled APIs; nil for the server's defaults.
	apis *serverstorage.ResourceConfig
)

// Current returns the release that the process imitates. It cannot be changed afterwards.
func Current() release.Release {
	mu.Lock()
	defer mu.Unlock()
	decided = true
	return current
}

// Version returns the version of Current.
func Version() string { return Current().Version }

// Set makes the process imitate a release. It must be called first: after a call of Current only the
// same release can be set. Feature gates that the version does not have, or that it has locked, are
// an error with the API server's text.
func Set(r release.Release) error {
	r = r.Normal()
	mu.Lock()
	defer mu.Unlock()
	if r == current {
		decided = true
		return nil
	}
	if decided {
		return ErrDecided
	}
	decided = true
	if err := set(r); err != nil {
		return err
	}
	current = r
	return nil
}

// EffectiveVersion returns the version of the API server, and the version that it emulates, for
// plugins.
func EffectiveVersion() basecompatibility.EffectiveVersion {
	Current()
	return compatibility.DefaultComponentGlobalsRegistry.EffectiveVersionFor(basecompatibility.DefaultKubeComponent)
}

func set(r release.Release) error {
	emulated := version.MajorMinor(1, uint(release.Minor(r.Version)))
	// The default compatibility of a server of that release: the minor version before it. The flags
	// of a later server do not go below the oldest version that it emulates.
	compatible := emulated.SubtractMinor(1)
	if release.Minor(r.Version) != release.Minor(release.Latest) {
		component, ok := compatibility.DefaultComponentGlobalsRegistry.EffectiveVersionFor(basecompatibility.DefaultKubeComponent).(basecompatibility.MutableEffectiveVersion)
		if !ok {
			return errors.New("set the emulation version: the version of the API server cannot be changed")
		}
		component.SetEmulationVersion(emulated)
		component.SetMinCompatibilityVersion(compatible)
		if err := utilfeature.DefaultMutableFeatureGate.SetEmulationVersionAndMinCompatibilityVersion(emulated, compatible); err != nil {
			return fmt.Errorf("set the emulation version: %w", err)
		}
	}
	if r.FeatureGates != "" {
		if err := setGates(r.FeatureGates, release.Minor(r.Version)); err != nil {
			return &FlagError{Release: r, Flag: "feature-gates", what: "these feature gates", Err: err}
		}
	}
	config, err := resourceConfig(r.RuntimeConfig)
	if err != nil {
		if release.Minor(r.Version) != release.Minor(release.Latest) {
			err = fmt.Errorf("%w (APIs that Kubernetes %s no longer has are not known)", err, release.Latest)
		}
		return &FlagError{Release: r, Flag: "runtime-config", what: "this runtime config", Err: err}
	}
	apis = config
	return nil
}

// FlagError is the API server's error about a flag with which it does not start.
type FlagError struct {
	Release release.Release
	// Flag is the name of the flag.
	Flag string
	what string
	Err  error
}

// Unwrap returns the server's error.
func (e *FlagError) Unwrap() error { return e.Err }

func (e *FlagError) Error() string {
	return fmt.Sprintf("the API server of Kubernetes %s does not start with %s: %s", e.Release.Version, e.what, strings.TrimSpace(e.Err.Error()))
}
