package live

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Binaries are the paths of the programs of a cluster.
type Binaries struct {
	Etcd, APIServer string
}

// AssetsVariable is the environment variable for a directory with etcd and kube-apiserver,
// as in the test environments of kubebuilder.
const AssetsVariable = "KUBEBUILDER_ASSETS"

// FindBinaries returns the programs in KUBEBUILDER_ASSETS, else the given kube-apiserver and
// the etcd on the PATH. Errors describe what to install.
func FindBinaries(apiServer string) (Binaries, error) {
	b := Binaries{APIServer: apiServer}
	if assets := os.Getenv(AssetsVariable); assets != "" {
		b.Etcd, b.APIServer = filepath.Join(assets, "etcd"), filepath.Join(assets, "kube-apiserver")
		return b, errors.Join(b.check(b.Etcd), b.check(b.APIServer))
	}
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		return b, fmt.Errorf("no etcd on the PATH: install it (on Debian: apt-get install etcd-server), or set %s to a directory with etcd and kube-apiserver", AssetsVariable)
	}
	b.Etcd = etcd
	if apiServer == "" {
		return b, fmt.Errorf("no kube-apiserver: name it with -apiserver, or set %s", AssetsVariable)
	}
	return b, b.check(b.APIServer)
}

func (Binaries) check(path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("look for %s: %w", filepath.Base(path), err)
	}
	return nil
}

const kubernetesModule = "k8s.io/kubernetes"

// builtFrom returns the version of the module k8s.io/kubernetes that a program was built
// from, "" if it was built otherwise. A program built from the module does not know its
// version itself.
func builtFrom(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	if info.Main.Path == kubernetesModule && strings.HasPrefix(info.Main.Version, "v1.") {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == kubernetesModule {
			return d.Version
		}
	}
	return ""
}
