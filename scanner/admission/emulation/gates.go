package emulation

import (
	"errors"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"github.com/preadmit/preadmit/scanner/release"
)

// dependent is the first minor version whose API server does not start if an enabled feature gate depends on a
// disabled one (kubernetes/kubernetes#133697).
const dependent = 35

// setGates sets feature gates as the API server of a minor version does when it starts.
func setGates(flag string, minor int) error {
	err := utilfeature.DefaultMutableFeatureGate.Set(flag)
	if err == nil {
		err = errors.Join(utilfeature.DefaultMutableFeatureGate.Validate()...)
	}
	if err == nil || minor >= dependent || !isOfDependencies(err) {
		return err
	}
	return overrideGates(flag)
}

// isOfDependencies reports whether an error is only about dependencies of feature gates.
func isOfDependencies(err error) bool {
	all := utilerrors.Aggregate(nil)
	if !errors.As(err, &all) {
		return false
	}
	for _, err := range all.Errors() {
		if !strings.Contains(err.Error(), " is enabled, but depends on features that are disabled: ") {
			return false
		}
	}
	return true
}

// overrideGates sets feature gates without a check of their dependencies. The flag must be valid otherwise.
func overrideGates(flag string) error {
	gates, err := release.ParseFeatureGates(flag)
	if err != nil {
		return err
	}
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		enabled, ok := gates[string(name)]
		switch {
		case ok:
		case spec.PreRelease == featuregate.Alpha:
			enabled, ok = gates["AllAlpha"]
		case spec.PreRelease == featuregate.Beta:
			enabled, ok = gates["AllBeta"]
		}
		if !ok || enabled == spec.Default {
			continue
		}
		if err := utilfeature.DefaultMutableFeatureGate.OverrideDefault(name, enabled); err != nil {
			return err
		}
	}
	return nil
}
