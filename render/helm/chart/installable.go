package chart

import (
	"errors"
	"fmt"
	"slices"

	chart "helm.sh/helm/v4/pkg/chart/v2"
)

// versionV3 is the apiVersion of charts for which Helm's commands have another loader.
const versionV3 = "v3"

// Installable returns an error for a chart that Helm's commands neither install nor print: one of another type
// than application, such as a library (helm.sh/helm/v4/pkg/cmd, checkIfInstallable), or with an invalid
// apiVersion (pkg/chart/loader, LoadDir). Helm's packages, and so Flux, accept such charts.
func Installable(c *chart.Chart) error {
	if !slices.Contains([]string{"", chart.APIVersionV1, chart.APIVersionV2, versionV3}, c.Metadata.APIVersion) {
		return errors.New("unsupported chart version")
	}
	switch c.Metadata.Type {
	case "", "application":
		return nil
	}
	return fmt.Errorf("%s charts are not installable", c.Metadata.Type)
}
