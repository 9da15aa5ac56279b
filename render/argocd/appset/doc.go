// Package appset finds out which Applications an ApplicationSet of Argo CD generates, as its
// controller does (applicationset/generators and controllers/template of Argo CD 3.5): generators
// make sets of parameters, and the template is filled in with each of them.
//
// Lists and files of git repositories are read; what clusters, pull requests and the like there are
// is given by the caller, else the set is one of which that is not known.
package appset
