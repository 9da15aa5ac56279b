package admission

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/preadmit/preadmit/scanner/kinds"
)

func (p *preparation) delete(ctx context.Context) (*Request, error) {
	old, err := p.stored()
	if err != nil {
		return nil, err
	}
	old = untracked(old)
	options, err := p.deleteOptions(ctx, old)
	if err != nil {
		return nil, err
	}
	attributes := p.attributes(nil, old, p.name, options)
	if err := p.mutate(ctx, attributes); err != nil {
		return nil, err
	}
	p.warnOfOrphans(ctx)
	return p.request(ctx, attributes)
}

// deleteOptions returns the options of a DELETE as policies see them. The storage completes them
// before admission: the grace period of a pod, and the UID of a namespace or definition
// (k8s.io/apiserver/pkg/registry/rest, BeforeDelete; the storages of namespaces and of
// CustomResourceDefinitions).
func (p *preparation) deleteOptions(ctx context.Context, old runtime.Object) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "DeleteOptions"}}
	if p.client.DryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	if kind := p.handler.resource.Kind.GroupKind(); kind == kinds.Namespace || kind == kinds.Definition {
		m, err := meta.Accessor(old)
		if err != nil {
			return nil, fmt.Errorf("delete %s: %w", kind.Kind, err)
		}
		options.Preconditions = metav1.NewUIDPreconditions(string(m.GetUID()))
	}
	strategy, ok := p.handler.Create.(rest.RESTDeleteStrategy)
	if !ok {
		return options, nil
	}
	// It marks the object as being deleted, which policies do not see.
	_, _, err := rest.BeforeDelete(strategy, ctx, old.DeepCopyObject(), options)
	return options, err
}
