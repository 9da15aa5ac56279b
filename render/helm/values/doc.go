// Package values makes the input of a chart's templates: the user's values merged with the chart's own, the
// values of dependencies, and the data of the release and the cluster.
package values
