// Package kinds is the one table of the kinds of objects that an API server looks at
// to judge requests about other objects: policies and their bindings, Namespaces,
// CustomResourceDefinitions, RBAC, and what admission plugins look up.
//
// Each kind is one row of the table in table.go. The row says
//
//   - what objects of the kind do to requests about others (Effect),
//   - whether the versions that different roots have of an object are kept apart, and
//     a change of one makes other objects be judged again (Governs),
//   - in which version admission plugins read it (Version), and
//   - which objects make an API server look for it (NeededBy).
//
// Rendering (package plan), cluster states (package scanner) and the offline API
// server (package admission) read the table; none of them lists kinds of its own. To
// have one more kind looked at, add its row. Kinds that policies take as params are
// not in the table: the policies name them.
package kinds
