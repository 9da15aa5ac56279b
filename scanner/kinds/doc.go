// Package kinds is the one table of the kinds of objects that an API server reads to judge requests
// about other objects: policies and their bindings, Namespaces, CustomResourceDefinitions, RBAC, and
// kinds that admission plugins look up.
//
// Each kind is one row of the table in table.go. The row says
//
//   - the effect of objects of the kind on requests about others (Effect),
//   - whether the versions of an object in different roots are kept apart, and
//     other objects are judged again if one changes (Governs),
//   - in which version admission plugins read it (Version), and
//   - for which objects an API server looks it up (NeededBy).
//
// Rendering (package plan), cluster states (package target) and the offline API server (package
// admission) read the table; none of them lists kinds of its own. To support another kind, add its
// row. Kinds that policies take as params are not in the table: the policies name them.
package kinds
