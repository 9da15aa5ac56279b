// Package inflate renders the charts that kustomizations inflate, as `kustomize build --enable-helm` has
// `helm template` do, and finds the lines that decide their fields.
package inflate
