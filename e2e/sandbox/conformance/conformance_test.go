package conformance

import (
	"flag"
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	_ "k8s.io/kubernetes/test/e2e/apimachinery" // the tests
	"k8s.io/kubernetes/test/e2e/framework"
	"k8s.io/kubernetes/test/e2e/framework/config"
)

func TestMain(m *testing.M) {
	config.CopyFlags(config.Flags, flag.CommandLine)
	framework.RegisterCommonFlags(flag.CommandLine)
	framework.RegisterClusterFlags(flag.CommandLine)
	flag.Parse()
	if framework.TestContext.KubeConfig == "" {
		framework.TestContext.KubeConfig = os.Getenv("KUBECONFIG")
	}
	framework.AfterReadingAllFlags(&framework.TestContext)
	os.Exit(m.Run())
}

// TestKubernetes runs the tests that -ginkgo.focus chooses on the cluster of KUBECONFIG.
func TestKubernetes(t *testing.T) {
	if framework.TestContext.KubeConfig == "" {
		t.Skip("KUBECONFIG names no cluster: make conformance-e2e runs this test on a sandbox")
	}
	gomega.RegisterFailHandler(framework.Fail)
	ginkgo.RunSpecs(t, "Kubernetes")
}
