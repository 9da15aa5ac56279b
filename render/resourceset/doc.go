// Package resourceset renders what ResourceSets of flux-operator make: templates of objects,
// filled in with each of several sets of inputs. The roots of kind KindResourceSet have a Unit
// whose Object is the ResourceSet; inputs of static ResourceSetInputProviders are in Unit.Inputs.
//
// The rules are those of flux-operator's API reference
// (https://fluxoperator.dev/docs/crd/resourceset/): delimiters `<<` and `>>`, the functions of
// slim-sprig without chance and clock, `slugify` and `toYaml`, an error for a key that is not
// there, objects without duplicates, owner labels and common metadata.
package resourceset
