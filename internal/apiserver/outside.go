package apiserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// errOutside is the error for every connection to the outside.
var errOutside = errors.New("a sandbox connects to nothing outside")

// confine prevents connections to servers that objects name: the servers of APIServices, webhooks
// that convert custom resources, and nodes, Pods and Services.
func confine(config *app.Config) {
	transport := &http.Transport{DialContext: refuse}
	config.Aggregator.ExtraConfig.ServiceResolver = nowhere{}
	config.Aggregator.ExtraConfig.ProxyTransport = transport
	config.ApiExtensions.ExtraConfig.ServiceResolver = nowhere{}
	config.ApiExtensions.ExtraConfig.AuthResolverWrapper = func(webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return nowhere{} }
	config.KubeAPIs.ControlPlane.Extra.ProxyTransport = transport
	config.KubeAPIs.Extra.KubeletClientConfig.Lookup = func(egressselector.NetworkContext) (utilnet.DialFunc, error) { return refuse, nil }
}

// refuse is a dial function that always fails.
func refuse(context.Context, string, string) (net.Conn, error) { return nil, errOutside }

// nowhere resolves no service, and its clients cannot connect.
type nowhere struct{}

// ResolveEndpoint implements webhook.ServiceResolver.
func (nowhere) ResolveEndpoint(string, string, int32) (*url.URL, error) { return nil, errOutside }

// ClientConfigFor implements webhook.AuthenticationInfoResolver.
func (nowhere) ClientConfigFor(string) (*rest.Config, error) { return &rest.Config{Dial: refuse}, nil }

// ClientConfigForService implements webhook.AuthenticationInfoResolver.
func (nowhere) ClientConfigForService(string, string, int) (*rest.Config, error) {
	return &rest.Config{Dial: refuse}, nil
}
