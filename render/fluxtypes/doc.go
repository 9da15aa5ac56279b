// Package fluxtypes has Flux's sources, what names charts, FluxInstances, and the types that
// several of Flux's APIs share, as the package github.com/fluxcd/pkg/apis/kustomize has them,
// with what kustomize has for each.
package fluxtypes
