package chart

import (
	"fmt"

	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/tree"
)

// FromArtifact reads a chart from an archive outside of the repository, with a given digest.
func FromArtifact(t *tree.Tree, a artifact.Artifact, digest string, limits Limits) (*chart.Chart, error) {
	data, pin, err := t.Bytes(a)
	if err == nil && pin.Digest != digest {
		err = fmt.Errorf("%s is %s now, and was %s", a, pin.Digest, digest)
	}
	if err != nil {
		return nil, err
	}
	c, err := FromArchive(data, limits)
	if err != nil {
		return nil, fmt.Errorf("the archive of chart %s cannot be read: %w", a.Name, err)
	}
	return c, nil
}
