package helm

import (
	"cmp"
	"context"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/helm/release"
)

// Flux adds build metadata to the version of a chart, which differs for other contents of that version. For
// most charts it is unknown, and the fields that depend on it are found by rendering with another one.
//
// helm-controller adds the digest of the manifest of an OCIRepository's chart to its version, as build
// metadata, so that a moved tag is noticed (fluxcd/helm-controller, mutateChartWithSourceRevision).
const (
	// digestLength is the length of the part of the digest that it adds.
	digestLength = 12
	otherDigest  = "sha256:0123456789abcdef"
	digestReason = "Flux adds the digest of its manifest to the version of the chart, which is known only with spec.ref.digest"
)

// tracksDigest reports whether the chart comes from an OCIRepository.
func (in *installed) tracksDigest() bool {
	h, err := release.ParseHelmRelease(in.root.Unit.Object)
	return err == nil && h.Spec.ChartRef.Kind == "OCIRepository"
}

// digestUnknown reports whether a part of the chart's version that templates see is unknown.
func (in *installed) digestUnknown() bool {
	return in.root.Unit.Release.VersionPart != "" || !artifact.IsDigest(in.root.Unit.Release.Chart.Version) && in.tracksDigest()
}

// chartVersion returns the version of the chart that templates see; "" for the chart's own.
func (in *installed) chartVersion() string {
	_, digest, _ := strings.Cut(cmp.Or(in.digest, in.root.Unit.Release.Chart.Version), ":")
	if len(digest) < digestLength || !in.tracksDigest() && in.root.Unit.Release.VersionPart == "" {
		return ""
	}
	version, err := semver.NewVersion(in.chart.chart.Metadata.Version)
	if err != nil {
		return ""
	}
	tracked, err := version.SetMetadata(digest[:digestLength])
	if err != nil {
		return ""
	}
	return tracked.String()
}

// markDigest marks the fields that depend on an unknown digest, found by rendering with another one.
func (in *installed) markDigest(ctx context.Context, rendered *release.Rendered) error {
	reason := digestReason
	if part := in.root.Unit.Release.VersionPart; part != "" {
		reason = "Flux adds " + part
	}
	other := *in
	other.digest = otherDigest
	varied, err := other.once(ctx, in.root.Unit.Object, nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		rendered.MarkAll(reason)
	default:
		rendered.MarkDifferences(varied, reason)
	}
	return nil
}
