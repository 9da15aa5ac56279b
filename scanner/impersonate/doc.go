// Package impersonate completes the groups of a user as an API server does for an
// impersonated user (k8s.io/apiserver/pkg/endpoints/filters, WithImpersonation).
package impersonate
