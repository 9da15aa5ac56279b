package chart

import (
	"fmt"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// Installable returns an error for a chart that Helm's commands install and print nothing of: one
// of another type than an application, such as a library (helm.sh/helm/v4/pkg/cmd,
// checkIfInstallable). Helm's packages, and so Flux, take any.
func Installable(c *chart.Chart) error {
	switch c.Metadata.Type {
	case "", "application":
		return nil
	}
	return fmt.Errorf("%s charts are not installable", c.Metadata.Type)
}
