// Package locate finds which line decides a field of a release of a chart: that of the value, found by
// changing values and rendering the template again, or else that of the template.
package locate
