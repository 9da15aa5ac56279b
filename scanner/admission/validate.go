package admission

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
)

// validate runs the validating plugins that come before policies.
func (p *preparation) validate(ctx context.Context, a admission.Attributes) error {
	for _, plugin := range p.validators() {
		if !plugin.Handles(a.GetOperation()) {
			continue
		}
		if err := plugin.Validate(ctx, a, p.handler.interfaces); err != nil {
			return err
		}
	}
	return nil
}

// validators are the plugins that judge the resource of a request.
func (p *preparation) validators() []admission.ValidationInterface {
	c, r := p.cluster, p.handler.resource
	if r.Custom {
		return nil
	}
	judged := c.mutators(r)
	if r.GroupResource() == gr("scheduling.k8s.io", "priorityclasses") {
		judged = c.plugins()
	}
	plugins := validating(judged, false)
	if podSecurityResources[r.GroupResource()] {
		plugins = append(plugins, c.podSecurity())
	}
	if c.opts.Complete {
		plugins = append(plugins, validating(judged, true)...)
	}
	if r.GroupResource() == gr("certificates.k8s.io", "certificatesigningrequests") {
		plugins = append(plugins, c.newCertificatePlugins()...)
	}
	return plugins
}

// validating gives the plugins that also judge: the LimitRanger comes before
// PodSecurity, and those that are lenient after it.
func validating(plugins []mutator, lenient bool) []admission.ValidationInterface {
	var found []admission.ValidationInterface
	for _, m := range plugins {
		if v, ok := m.MutationInterface.(admission.ValidationInterface); ok && m.lenient == lenient {
			found = append(found, v)
		}
	}
	return found
}
