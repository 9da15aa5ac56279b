package apiserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// startTimeout is the timeout for the server and the controllers to become ready.
	startTimeout = 2 * time.Minute
	pollEvery    = 50 * time.Millisecond
)

// errEnded is the error for a server that ends without an error before it is ready.
var errEnded = errors.New("it ended")

// ready waits until the server answers /readyz.
func (s *Server) ready(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		_, last := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		if last == nil {
			return nil
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			if err == nil {
				err = errEnded
			}
			return fmt.Errorf("start kube-apiserver: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w", last)
		case <-time.After(pollEvery):
		}
	}
}
