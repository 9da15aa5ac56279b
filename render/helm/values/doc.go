// Package values makes what the templates of a chart see: the values of its user over its own, those of its
// dependencies, and what they see of the release and the cluster.
package values
