package target

import (
	"fmt"

	"github.com/preadmit/preadmit/scanner/admission/emulation"
	"github.com/preadmit/preadmit/scanner/clusterconfig"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/release"
)

// OtherServer is a setting of an API server, in a file, that differs from the imitated server.
type OtherServer struct {
	// Setting is the first of equal settings, without gates and APIs in which the servers do not differ. Others is the
	// number of the others.
	clusterconfig.Setting
	Others int
	// Description describes the setting and how to imitate it.
	Description string
}

// OtherServers returns the settings of API servers in files that differ from the server that the process
// imitates. A version, feature gates or a runtime config that is configured is not compared.
func OtherServers(settings []clusterconfig.Setting, c *config.Config) []OtherServer {
	known := config.Target{KubernetesVersion: c.KubernetesVersion, FeatureGates: c.FeatureGates, RuntimeConfig: c.RuntimeConfig}
	for _, t := range c.Targets {
		known.KubernetesVersion += t.KubernetesVersion
		if t.FeatureGates != nil {
			known.FeatureGates = t.FeatureGates
		}
		if t.RuntimeConfig != nil {
			known.RuntimeConfig = t.RuntimeConfig
		}
	}
	var all []OtherServer
	places := map[string]int{}
	for _, s := range settings {
		says := differs(&s, &known)
		if says == "" {
			continue
		}
		if i, ok := places[says]; ok {
			all[i].Others++
			continue
		}
		places[says] = len(all)
		all = append(all, OtherServer{Setting: s, Description: says})
	}
	return all
}

// differs describes how a setting differs from the imitated server; it returns "" if it does not. It removes gates and
// APIs in which they do not differ.
func differs(s *clusterconfig.Setting, known *config.Target) string {
	switch {
	case s.Version != "" && known.KubernetesVersion == "" && release.Minor(s.Version) != release.Minor(emulation.Version()):
		says := fmt.Sprintf("Kubernetes %s, and verdicts are those of %s: ", s.Version, emulation.Version())
		if _, err := release.ParseVersion(s.Version); err != nil {
			return says + "an API server of its version cannot be imitated"
		}
		return says + settable("kubernetesVersion", "kubernetes-version")
	case len(s.FeatureGates) > 0 && known.FeatureGates == nil:
		if s.FeatureGates = emulation.OtherGates(s.FeatureGates); len(s.FeatureGates) > 0 {
			return fmt.Sprintf("--feature-gates=%s, which verdicts do not go by: %s", release.Settings(s.FeatureGates), settable("featureGates", "feature-gates"))
		}
	case len(s.RuntimeConfig) > 0 && known.RuntimeConfig == nil:
		if s.RuntimeConfig = emulation.OtherAPIs(s.RuntimeConfig); len(s.RuntimeConfig) > 0 {
			return fmt.Sprintf("--runtime-config=%s, which verdicts do not go by: %s", release.Settings(s.RuntimeConfig), settable("runtimeConfig", "runtime-config"))
		}
	}
	return ""
}

func settable(key, flag string) string {
	return fmt.Sprintf("%s in %s, or --%s, sets it", key, config.FileName, flag)
}
