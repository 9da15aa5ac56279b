// Package locate finds the line that decides a field of a release of a chart: the line of the value, found by
// changing values and rendering the template again, or else the line of the template.
package locate
