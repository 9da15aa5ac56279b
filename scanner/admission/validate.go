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
	plugins := c.validating(judged, false)
	if podSecurityResources[r.GroupResource()] {
		plugins = append(plugins, c.podSecurity())
	}
	plugins = append(plugins, c.validating(judged, true)...)
	if r.GroupResource() == gr("certificates.k8s.io", "certificatesigningrequests") {
		plugins = append(plugins, c.newCertificatePlugins()...)
	}
	return plugins
}

// validating returns the mutating plugins that validate too: the LimitRanger comes
// before PodSecurity, and those that look for a class after it. These refuse what they
// do not find, so they run where all classes are known.
func (c *Cluster) validating(plugins []mutator, classes bool) []admission.ValidationInterface {
	var found []admission.ValidationInterface
	for _, m := range plugins {
		v, ok := m.MutationInterface.(admission.ValidationInterface)
		if ok && (m.looksFor.Kind != "") == classes && c.knowsClasses(m) {
			found = append(found, v)
		}
	}
	return found
}
