// Package fluxtypes has the types that several of Flux's APIs share, as the package
// github.com/fluxcd/pkg/apis/kustomize has them, and what kustomize has for each.
package fluxtypes
