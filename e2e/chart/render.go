package chart

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// Render returns the output of `helm template preadmit dir --namespace preadmit` with values:
// the text of each template that is not empty, in the order of their names, and the notes.
// It returns an error for values that the chart's schema refuses.
func Render(dir string, values map[string]any) (manifests, notes string, err error) {
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return "", "", fmt.Errorf("load the chart: %w", err)
	}
	release := chartutil.ReleaseOptions{Name: "preadmit", Namespace: "preadmit", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return "", "", fmt.Errorf("check the values: %w", err)
	}
	rendered, err := engine.Engine{Strict: true}.Render(chart, all)
	if err != nil {
		return "", "", fmt.Errorf("render: %w", err)
	}
	names := make([]string, 0, len(rendered))
	for name := range rendered {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		text := strings.TrimSpace(rendered[name])
		switch {
		case path.Base(name) == "NOTES.txt":
			notes = text + "\n"
		case text != "":
			fmt.Fprintf(&b, "---\n# Source: %s\n%s\n", name, text)
		}
	}
	return b.String(), notes, nil
}
