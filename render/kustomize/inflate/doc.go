// Package inflate renders the charts of kustomizations, as `kustomize build --enable-helm` does with `helm
// template`, and finds the lines that decide their fields.
package inflate
