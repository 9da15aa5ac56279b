// Package fluxtypes has the types of Flux's sources, references to charts and FluxInstances, and the types that several
// of Flux's APIs share, as in the package github.com/fluxcd/pkg/apis/kustomize, with conversions to kustomize's types.
package fluxtypes
