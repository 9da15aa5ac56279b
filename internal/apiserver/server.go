package apiserver

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	basecompatibility "k8s.io/component-base/compatibility"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// Options are the options of a server.
type Options struct {
	// Data is the directory of etcd's data; Run is that of sockets, certificates and keys, which
	// nobody else may enter. Both exist.
	Data, Run string
	// Keep makes etcd sync data to the disk, and Stop wait for the server.
	Keep bool
	// Port is the port on 127.0.0.1; 0 means any free port.
	Port int
	// Version is the release of Kubernetes, such as v1.36.3. It has to be given, since only official
	// builds contain it.
	Version string
	// Now is the current time.
	Now time.Time
}

// Server is a running server.
type Server struct {
	listener  net.Listener
	authority *authority
	etcd      *embed.Etcd
	version   string
	keep      bool
	running   bool
	cancel    context.CancelFunc
	// ended receives the error of the server when it has ended.
	ended chan error
}

// Start starts a server. When it returns, the server and the controllers are ready.
func Start(ctx context.Context, o Options) (s *Server, err error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s = &Server{cancel: cancel, version: o.Version, keep: o.Keep, ended: make(chan error, 1)}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.listener, err = net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))); err != nil {
		return s, err
	}
	if s.authority, err = newAuthority(o.Now); err != nil {
		return s, err
	}
	written, err := s.authority.write(o.Run)
	if err != nil {
		return s, err
	}
	var storage string
	if s.etcd, storage, err = startEtcd(ctx, o.Data, o.Run, o.Keep); err != nil {
		return s, err
	}
	prepared, err := s.prepare(running, written, storage)
	if err != nil {
		return s, fmt.Errorf("start kube-apiserver: %w", err)
	}
	s.running = true
	go func() { s.ended <- prepared.Run(running) }()
	config, err := s.admin()
	if err != nil {
		return s, err
	}
	if err := s.ready(ctx, config); err != nil {
		return s, err
	}
	return s, startControllers(running, config, s.authority.pem)
}

// options returns the options of kube-apiserver for flags.
func (s *Server) options(f files, storage string) (*options.ServerRunOptions, error) {
	o := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range o.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	err := flags.Parse([]string{
		"--etcd-servers=" + storage,
		"--bind-address=127.0.0.1",
		"--tls-cert-file=" + f.certificate, "--tls-private-key-file=" + f.key, "--client-ca-file=" + f.authority,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-signing-key-file=" + f.accounts, "--service-account-key-file=" + f.accounts,
		"--service-cluster-ip-range=10.96.0.0/12",
		"--authorization-mode=RBAC",
		"--anonymous-auth=false",
		"--allow-privileged=true",
		"--endpoint-reconciler-type=none",
		"--profiling=false",
		// A sandbox has nothing that could serve webhooks: if those of a repository were called, every
		// request would fail.
		"--disable-admission-plugins=MutatingAdmissionWebhook,ValidatingAdmissionWebhook",
	})
	if err != nil {
		return nil, err
	}
	o.SecureServing.Listener = s.listener
	o.SecureServing.BindPort = s.listener.Addr().(*net.TCPAddr).Port
	return o, nil
}

// prepare assembles kube-apiserver like its own command (app.Run).
func (s *Server) prepare(ctx context.Context, f files, storage string) (runner, error) {
	o, err := s.options(f, storage)
	if err != nil {
		return nil, err
	}
	registry := o.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return nil, err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{}) // the server's own clients, as in its command
	if err := logsapi.ValidateAndApply(o.Logs, registry.FeatureGateFor(basecompatibility.DefaultKubeComponent)); err != nil {
		return nil, err
	}
	completed, err := o.Complete(ctx)
	if err != nil {
		return nil, err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return nil, utilerrors.NewAggregate(errs)
	}
	config, err := app.NewConfig(completed)
	if err != nil {
		return nil, err
	}
	confine(config)
	named := release{config.Aggregator.GenericConfig.EffectiveVersion, s.version}
	config.Aggregator.GenericConfig.EffectiveVersion, config.KubeAPIs.ControlPlane.Generic.EffectiveVersion = named, named
	whole, err := config.Complete()
	if err != nil {
		return nil, err
	}
	chain, err := app.CreateServerChain(whole)
	if err != nil {
		return nil, err
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return nil, err
	}
	return prepared, nil
}

// release is an EffectiveVersion that reports a release.
type release struct {
	basecompatibility.EffectiveVersion
	name string
}

// Info implements basecompatibility.EffectiveVersion.
func (r release) Info() *version.Info {
	info := r.EffectiveVersion.Info()
	info.GitVersion, info.GitCommit, info.GitTreeState, info.BuildDate = r.name, "", "", ""
	return info
}

// runner is a server that can be run.
type runner interface {
	Run(ctx context.Context) error
}

// URL returns the URL of the server.
func (s *Server) URL() string { return "https://" + s.listener.Addr().String() }

// admin returns the client configuration of an administrator.
func (s *Server) admin() (*rest.Config, error) {
	access, err := s.Kubeconfig()
	if err != nil {
		return nil, err
	}
	return clientcmd.NewDefaultClientConfig(*access, &clientcmd.ConfigOverrides{}).ClientConfig()
}

// Kubeconfig returns the configuration of an administrator, who is in system:masters and may
// impersonate everybody.
func (s *Server) Kubeconfig() (*clientcmdapi.Config, error) {
	client, err := s.authority.client("sandbox-admin", "system:masters")
	if err != nil {
		return nil, err
	}
	const name = "preadmit-sandbox"
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: s.URL(), CertificateAuthorityData: s.authority.pem}
	c.AuthInfos["sandbox-admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: client.certificate, ClientKeyData: client.key}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: "sandbox-admin"}
	c.CurrentContext = name
	return c, nil
}

// Ended returns a channel that receives the server's error when it ends by itself.
func (s *Server) Ended() <-chan error { return s.ended }

// patience is how long Stop waits for the server.
const patience = 3 * time.Second

// Stop stops the server and the requests in progress. Without Keep some goroutines may continue
// until the process ends.
func (s *Server) Stop() {
	s.cancel()
	if s.running && s.keep {
		select {
		case <-s.ended:
		case <-time.After(patience):
		}
	}
	if s.etcd != nil && (s.keep || !s.running) {
		s.etcd.Close()
	}
	if s.listener != nil && !s.running { // a running server closes it itself
		_ = s.listener.Close()
	}
}
