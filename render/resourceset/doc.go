// Package resourceset renders ResourceSets of flux-operator: templates of objects, which are executed with each of
// several sets of inputs. The roots of kind KindResourceSet have a Unit whose Object is the ResourceSet; inputs of
// static ResourceSetInputProviders are in Unit.Inputs.
//
// The rules are those of flux-operator's API reference (https://fluxoperator.dev/docs/crd/resourceset/): delimiters
// `<<` and `>>`, the functions of slim-sprig except those that depend on randomness or the clock, `slugify` and
// `toYaml`, an error for a missing key, no duplicate objects, owner labels and common metadata.
package resourceset
