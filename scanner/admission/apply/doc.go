// Package apply is what tools send when they apply a manifest, and what an API server
// makes of it.
//
// An Applier is a tool: its field manager, whether it uses server-side apply or merges
// itself, and what it does to a manifest first. Server-side apply is Kubernetes' own code
// (k8s.io/apimachinery/pkg/util/managedfields) with the types that a server has (Types);
// the three-way merge of kubectl is that of apimachinery, too (ThreeWay). A tool that alone has applied an
// object, and applies all its fields again, needs no managers of fields (Applied).
//
// Objects go in as decoded JSON; package admission has the object that is stored, and
// takes the result through defaulting, admission and validation.
package apply
