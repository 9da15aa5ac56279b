package apiserver

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	serviceaccounts "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	"k8s.io/kubernetes/pkg/generated/openapi"
	"k8s.io/kubernetes/pkg/quota/v1/install"
)

const (
	// workers is the number of workers of a controller.
	workers = 2
	// resync is the resync period of the informers.
	resync = 5 * time.Minute
	// mapperResync is how often the known kinds for type checking are refreshed: as often as in
	// kube-controller-manager.
	mapperResync = 30 * time.Second
	// quotaResync is how often the controller of ResourceQuotas discovers kinds to count, and counts
	// again. In a cluster these are 30 seconds and 5 minutes; custom resources with a quota would be
	// rejected for that long.
	quotaResync = 3 * time.Second
)

// controllers creates controllers with the users that they have in a cluster, which policies see.
type controllers struct {
	config    *rest.Config
	informers informers.SharedInformerFactory
	// objects has the informers of kinds without typed clients.
	objects metadatainformer.SharedInformerFactory
	// started is closed when the informers have been started.
	started chan struct{}
	run     []func(context.Context)
}

// startControllers starts the controllers and waits until they have completed the namespace
// default.
func startControllers(ctx context.Context, config *rest.Config, rootCA []byte) error {
	manager := rest.CopyConfig(config)
	manager.Impersonate = rest.ImpersonationConfig{UserName: "system:kube-controller-manager"}
	shared, err := kubernetes.NewForConfig(manager)
	if err != nil {
		return err
	}
	contents, err := metadata.NewForConfig(manager)
	if err != nil {
		return err
	}
	c := &controllers{
		config: config, started: make(chan struct{}),
		informers: informers.NewSharedInformerFactory(shared, resync),
		objects:   metadatainformer.NewSharedInformerFactory(contents, resync),
	}
	for name, add := range map[string]func(context.Context, *rest.Config, kubernetes.Interface) error{
		"service-account-controller":                  c.serviceAccounts,
		"root-ca-cert-publisher":                      c.rootCA(rootCA),
		"namespace-controller":                        c.namespaces,
		"resourcequota-controller":                    c.quotas,
		"clusterrole-aggregation-controller":          c.aggregation,
		"validatingadmissionpolicy-status-controller": c.policies,
	} {
		config, client, err := c.client(name)
		if err == nil {
			err = add(ctx, config, client)
		}
		if err != nil {
			return fmt.Errorf("start the %s: %w", name, err)
		}
	}
	c.informers.Start(ctx.Done())
	c.objects.Start(ctx.Done())
	close(c.started)
	for _, run := range c.run {
		go run(ctx)
	}
	return settled(ctx, shared)
}

// client returns a client that impersonates the service account of a controller. The server's
// bootstrap roles permit what it needs.
func (c *controllers) client(name string) (*rest.Config, kubernetes.Interface, error) {
	config := rest.CopyConfig(c.config)
	config.QPS = -1 // no limit, since nobody else uses the server
	config.Impersonate = rest.ImpersonationConfig{
		UserName: serviceaccount.MakeUsername(metav1.NamespaceSystem, name),
		Groups:   append(serviceaccount.MakeGroupNames(metav1.NamespaceSystem), "system:authenticated"),
	}
	client, err := kubernetes.NewForConfig(config)
	return config, client, err
}

func (c *controllers) serviceAccounts(ctx context.Context, _ *rest.Config, client kubernetes.Interface) error {
	made, err := serviceaccounts.NewServiceAccountsController(klog.FromContext(ctx), c.informers.Core().V1().ServiceAccounts(),
		c.informers.Core().V1().Namespaces(), client, serviceaccounts.DefaultServiceAccountsControllerOptions())
	c.run = append(c.run, func(ctx context.Context) { made.Run(ctx, 1) })
	return err
}

func (c *controllers) rootCA(certificate []byte) func(context.Context, *rest.Config, kubernetes.Interface) error {
	return func(_ context.Context, _ *rest.Config, client kubernetes.Interface) error {
		made, err := rootcacertpublisher.NewPublisher(c.informers.Core().V1().ConfigMaps(), c.informers.Core().V1().Namespaces(), client, certificate)
		c.run = append(c.run, func(ctx context.Context) { made.Run(ctx, 1) })
		return err
	}
}

func (c *controllers) namespaces(ctx context.Context, config *rest.Config, client kubernetes.Interface) error {
	contents, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	made := namespace.NewNamespaceController(ctx, client, contents, client.Discovery().ServerPreferredNamespacedResources,
		c.informers.Core().V1().Namespaces(), resync, corev1.FinalizerKubernetes)
	c.run = append(c.run, func(ctx context.Context) { made.Run(ctx, workers) })
	return nil
}

// quotas creates the controller that counts what ResourceQuotas limit: without it the server rejects
// everything that they count.
func (c *controllers) quotas(ctx context.Context, _ *rest.Config, client kubernetes.Interface) error {
	counted, err := install.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(c.informers.ForResource), c.informers)
	if err != nil {
		return err
	}
	discover := client.Discovery().ServerPreferredNamespacedResources
	made, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               client.CoreV1(),
		ResourceQuotaInformer:     c.informers.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(quotaResync),
		InformerFactory:           informerfactory.NewInformerFactory(c.informers, c.objects),
		ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(resync),
		DiscoveryFunc:             discover,
		IgnoredResourcesFunc:      counted.IgnoredResources,
		InformersStarted:          c.started,
		Registry:                  generic.NewRegistry(counted.Evaluators()),
		UpdateFilter:              install.DefaultUpdateFilter(),
	})
	c.run = append(c.run,
		func(ctx context.Context) { made.Run(ctx, workers) },
		func(ctx context.Context) { made.Sync(ctx, discover, quotaResync) })
	return err
}

func (c *controllers) aggregation(_ context.Context, _ *rest.Config, client kubernetes.Interface) error {
	made := clusterroleaggregation.NewClusterRoleAggregation(c.informers.Rbac().V1().ClusterRoles(), client.RbacV1())
	c.run = append(c.run, func(ctx context.Context) { made.Run(ctx, workers) })
	return nil
}

// policies creates the controller that checks the types of ValidatingAdmissionPolicies.
func (c *controllers) policies(_ context.Context, _ *rest.Config, client kubernetes.Interface) error {
	kinds := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	made, err := validatingadmissionpolicystatus.NewController(
		c.informers.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		client.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
		&validating.TypeChecker{
			SchemaResolver: resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, scheme.Scheme, apiextensionsscheme.Scheme).
				Combine(&resolver.ClientDiscoveryResolver{Discovery: client.Discovery()}),
			RestMapper: kinds,
		})
	c.run = append(c.run,
		func(ctx context.Context) { made.Run(ctx, workers) },
		func(ctx context.Context) {
			wait.UntilWithContext(ctx, func(context.Context) { kinds.Reset() }, mapperResync)
		})
	return err
}

// settled waits until the namespace default has what controllers create in every namespace.
func settled(ctx context.Context, client kubernetes.Interface) error {
	err := wait.PollUntilContextTimeout(ctx, pollEvery, startTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		if err == nil {
			_, err = client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Get(ctx, rootcacertpublisher.RootCACertConfigMapName, metav1.GetOptions{})
		}
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait for the controllers: %w", err)
	}
	return nil
}
