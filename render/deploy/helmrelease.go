package deploy

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/flux"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// helmRelease is what decides of a HelmRelease which chart is installed with which values, and
// how. What else does is for who renders it.
type helmRelease struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Chart *struct {
			Spec chartSpec `json:"spec"`
		} `json:"chart"`
		ChartRef           *sourceRef       `json:"chartRef"`
		Suspend            bool             `json:"suspend"`
		ServiceAccountName string           `json:"serviceAccountName"`
		KubeConfig         *flux.KubeConfig `json:"kubeConfig"`
		Install, Upgrade   struct {
			CRDs     string `json:"crds"`
			SkipCRDs bool   `json:"skipCRDs"`
		}
		ValuesFrom []struct {
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			ValuesKey  string `json:"valuesKey"`
			TargetPath string `json:"targetPath"`
			Optional   bool   `json:"optional"`
			Literal    bool   `json:"literal"`
		} `json:"valuesFrom"`
	} `json:"spec"`
}

// chartSpec is the `spec` of a HelmChart, which a HelmRelease has too.
type chartSpec struct {
	Chart                    string    `json:"chart"`
	Version                  string    `json:"version"`
	SourceRef                sourceRef `json:"sourceRef"`
	ValuesFiles              []string  `json:"valuesFiles"`
	ValuesFile               string    `json:"valuesFile"`
	IgnoreMissingValuesFiles bool      `json:"ignoreMissingValuesFiles"`
}

type sourceRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// in is the object that is referred to from a namespace.
func (r sourceRef) in(namespace string) render.ObjectRef {
	return render.ObjectRef{Group: sourceGroup, Kind: r.Kind, Namespace: cmp.Or(r.Namespace, namespace, defaultNamespace), Name: r.Name}
}

// namespace is that of the HelmRelease.
func (h *helmRelease) namespace() string { return cmp.Or(h.Metadata.Namespace, defaultNamespace) }

// helmController makes the requests of a HelmRelease that names no service account.
const helmController = "system:serviceaccount:flux-system:helm-controller"

// apply is how helm-controller applies a release: what is no longer rendered is deleted, and
// all when the HelmRelease is.
func (h *helmRelease) apply() render.Apply {
	a := render.Apply{Suspended: h.Spec.Suspend, Prune: true, DeletionPolicy: "Delete", User: helmController}
	if h.Spec.ServiceAccountName != "" {
		a.User = "system:serviceaccount:" + h.namespace() + ":" + h.Spec.ServiceAccountName
	}
	return a
}

// addRelease adds the unit of a HelmRelease that another unit applies.
func (e *expander) addRelease(parent *node, k held) {
	n := &node{cluster: e.clusterOf(parent.root.Unit.Cluster), parent: parent, depth: parent.depth + 1, release: &helmRelease{}}
	key := unitKey{n.cluster.name, k.ref()}
	if known := e.units[key]; known != nil {
		if !(&render.Unit{Object: known.root.Unit.Object}).Same(&render.Unit{Object: k.object.JSON}) {
			e.appliedDifferently(known, n, k)
		}
		return
	}
	e.units[key] = n
	e.nodes = append(e.nodes, n)
	u := &render.Unit{
		Object: k.object.JSON, Parent: k.root, Index: k.object.Index, Cluster: n.cluster.name,
		Checkout: render.Checkout{Top: "."}, Origins: e.origins.of,
	}
	n.root = render.Root{RootID: render.RootID{Kind: render.KindHelm, Dir: k.root.Dir, Object: k.ref(), Cluster: n.cluster.name}, Unit: u}
	if err := json.Unmarshal(u.Object, n.release); err != nil {
		n.fail(render.ProblemFailed, "spec", "not a HelmRelease of Flux: "+err.Error())
		return
	}
	u.Apply, u.Cluster = n.release.apply(), remoteCluster(n.cluster.name, n.release.namespace(), n.release.Spec.KubeConfig)
	spec := n.release.Spec
	u.Release = &render.Release{
		Upgrade:     e.opts.Upgrade,
		KubeVersion: cmp.Or(e.opts.KubeVersion, defaultKubeVersion),
		Install:     cmp.Or(spec.Install.CRDs, "Create"), Reapply: cmp.Or(spec.Upgrade.CRDs, "Skip"),
	}
	if spec.Install.SkipCRDs {
		u.Release.Install = "Skip"
	}
	for _, unknown := range k.object.Unknown {
		if decides(unknown.Path) {
			n.fail(render.ProblemRefused, "spec", fmt.Sprintf("the field %s of the HelmRelease is not known: %s", dotted(unknown.Path), unknown.Reason))
			return
		}
		if len(unknown.Path) > 0 && unknown.Path[0] == "spec" {
			u.Release.Unknown = append(u.Release.Unknown, unknown)
		}
	}
	if len(e.nodes) > maxUnits {
		n.fail(render.ProblemRefused, "", fmt.Sprintf("there are more than %d units", maxUnits))
	}
}

// decides reports whether a field of a HelmRelease says what is installed where, so that
// nothing can be said without it.
func decides(field []string) bool {
	switch {
	case len(field) == 0:
		return true
	case field[0] == "metadata":
		return len(field) == 1 || field[1] == "name" || field[1] == "namespace"
	case field[0] != "spec":
		return false
	case len(field) == 1:
		return true
	}
	return !slices.Contains([]string{"values", "postRenderers", "commonMetadata", "driftDetection", "dependsOn", "interval", "timeout", "maxHistory"}, field[1])
}

// resolveRelease finds out what a release is made of.
func (e *expander) resolveRelease(n *node) error {
	if err := e.resolveChart(n); err != nil {
		return err
	}
	n.resolved = true
	if n.root.Unit.Problem != nil && n.root.Unit.Release == nil {
		return nil
	}
	return e.resolveValues(n) // without its chart too: that they change is seen then
}

// resolveChart finds the chart of a release, or says why it is not there.
func (e *expander) resolveChart(n *node) error {
	spec := n.release.Spec
	switch {
	case spec.ChartRef != nil:
		n.named("spec.chartRef.name", "spec.chartRef")
		return e.chartOf(n, spec.ChartRef.in(n.release.namespace()), "spec.chartRef")
	case spec.Chart != nil:
		n.named("spec.chart.spec.version", "spec.chart.spec.chart")
		return e.chartIn(n, spec.Chart.Spec, n.release.namespace(), "spec.chart.spec")
	}
	n.fail(render.ProblemFailed, "spec", "the HelmRelease names no chart: it needs spec.chart or spec.chartRef")
	return nil
}

// named notes the fields of a HelmRelease that name its chart.
func (n *node) named(fields ...string) {
	n.namedBy(held{object: &render.Object{Index: n.root.Unit.Index}, root: n.root.Unit.Parent}, fields...)
}

// namedBy notes the fields of an object that name the chart of a release, before those that
// are known.
func (n *node) namedBy(o held, fields ...string) {
	var all []render.FieldRef
	for _, field := range fields {
		all = append(all, render.FieldRef{Root: o.root, Index: o.object.Index, Path: field})
	}
	n.root.Unit.Release.Named = append(all, n.root.Unit.Release.Named...)
}

// chartOf finds the chart that an object is.
func (e *expander) chartOf(n *node, ref render.ObjectRef, field string) error {
	found, ok, err := e.lookUp(n.cluster, ref)
	if err != nil {
		return err
	}
	if !ok {
		n.lacks(field, fmt.Sprintf("its chart %s is not in the repository: nothing says where it comes from", ref), nil)
		return nil
	}
	switch ref.Kind {
	case "HelmChart":
		var o struct {
			Spec chartSpec `json:"spec"`
		}
		if err := json.Unmarshal(found.object.JSON, &o); err != nil {
			n.fail(render.ProblemFailed, field, fmt.Sprintf("its chart %s is not valid: %v", ref, err))
			return nil
		}
		n.namedBy(found, "spec.version", "spec.chart")
		return e.chartIn(n, o.Spec, ref.Namespace, field)
	case "OCIRepository":
		n.namedBy(found, "spec.ref.digest", "spec.ref.semver", "spec.ref.tag", "spec.url")
		e.chartOCI(n, ref, found, field)
		return nil
	}
	n.lacks(field, fmt.Sprintf("its chart is made by %s, which is not followed", ref), nil)
	return nil
}

// chartOCI finds the chart that an OCIRepository has.
func (e *expander) chartOCI(n *node, ref render.ObjectRef, found held, field string) {
	var o struct {
		Spec struct {
			URL string `json:"url"`
			Ref struct {
				Digest string `json:"digest"`
				SemVer string `json:"semver"`
				Tag    string `json:"tag"`
			} `json:"ref"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(found.object.JSON, &o); err != nil {
		n.fail(render.ProblemFailed, field, fmt.Sprintf("its chart %s is not valid: %v", ref, err))
		return
	}
	if why := unknownSpec(found.object); why != "" {
		n.lacks(field, fmt.Sprintf("where its chart %s comes from is not known: %s", ref, why), nil)
		return
	}
	url := strings.TrimRight(o.Spec.URL, "/")
	e.archive(n, artifact.Artifact{
		Kind: artifact.Chart, URL: strings.TrimSuffix(url, "/"+path.Base(url)), Name: path.Base(url),
		Version: cmp.Or(o.Spec.Ref.Digest, o.Spec.Ref.SemVer, o.Spec.Ref.Tag),
	}, field)
}

// unknownSpec says why a part of the spec of an object is not known; it is empty when all is.
func unknownSpec(o *render.Object) string {
	for _, u := range o.Unknown {
		if len(u.Path) == 0 || u.Path[0] == "spec" {
			return u.Reason
		}
	}
	return ""
}

// chartIn finds a chart in its source.
func (e *expander) chartIn(n *node, spec chartSpec, namespace, field string) error {
	ref := spec.SourceRef.in(namespace)
	found, ok, err := e.lookUp(n.cluster, ref)
	if err != nil {
		return err
	}
	r := n.root.Unit.Release
	if r.ValuesFiles = spec.ValuesFiles; len(r.ValuesFiles) == 0 && spec.ValuesFile != "" {
		r.ValuesFiles = []string{spec.ValuesFile}
	}
	r.IgnoreMissing = spec.IgnoreMissingValuesFiles
	if ref.Kind == "GitRepository" {
		e.chartDirectory(n, spec, ref, found, ok)
		return nil
	}
	var o struct {
		Spec struct {
			URL string `json:"url"`
		} `json:"spec"`
	}
	switch {
	case !ok:
		n.lacks(field, fmt.Sprintf("the source %s of its chart %s %s is not in the repository: nothing says where it is", ref, spec.Chart, spec.Version), nil)
	case ref.Kind != "HelmRepository":
		n.lacks(field, fmt.Sprintf("its chart %s comes from %s, which is not fetched", spec.Chart, ref), nil)
	case json.Unmarshal(found.object.JSON, &o) != nil || o.Spec.URL == "":
		n.fail(render.ProblemFailed, field, fmt.Sprintf("the source %s of its chart is not valid: it needs a URL", ref))
	case unknownSpec(found.object) != "":
		n.lacks(field, fmt.Sprintf("where the source %s of its chart is, is not known: %s", ref, unknownSpec(found.object)), nil)
	default:
		e.archive(n, artifact.Artifact{Kind: artifact.Chart, URL: o.Spec.URL, Name: spec.Chart, Version: spec.Version}, field)
	}
	return nil
}

// chartDirectory finds the chart in a directory of a GitRepository.
func (e *expander) chartDirectory(n *node, spec chartSpec, ref render.ObjectRef, found held, ok bool) {
	checkout, why, elsewhere := e.checkout(n.cluster, ref, found, ok)
	if why != "" && elsewhere == nil {
		n.lacks("spec.chart.spec", why, nil)
		return
	}
	dir := path.Join(checkout.Top, path.Clean("/" + spec.Chart)[1:])
	in := dir // the tree
	if elsewhere != nil {
		top, absent := e.mounted(why, elsewhere)
		if absent != "" {
			n.lacks("spec.chart.spec", absent, elsewhere)
			return
		}
		elsewhere.Position = n.root.Unit.Position(e.ctx, "spec.chart.spec")
		in, n.root.Unit.Artifact = path.Join(top, dir), elsewhere
	}
	n.root.Unit.Checkout = checkout
	if to := e.renderer.Tree().Resolve(path.Join(in, "Chart.yaml")); to.Err != nil {
		n.fail(render.ProblemFailed, "spec.chart.spec.chart", fmt.Sprintf("there is no chart in %s: it has no Chart.yaml", dir))
		return
	}
	if n.root.Unit.Release.Dir = dir; elsewhere == nil {
		n.root.Dir = dir
	}
	e.resolveDependencies(n, in)
}

// archive has a release be made of an archive, if it is there.
func (e *expander) archive(n *node, a artifact.Artifact, field string) {
	_, pin, err := e.renderer.Tree().Bytes(a)
	asked := &render.Artifact{Kind: a.Kind, URL: a.URL, Name: a.Name, Version: a.Version}
	switch {
	case errors.Is(err, tree.ErrNoArtifacts):
		missing := &artifact.MissingError{Artifact: a, Why: "no charts were given", Hint: "preadmit fetch gets it, and --artifacts names a directory with archives"}
		n.lacks(field, missing.Error(), asked)
	case errors.As(err, new(*artifact.MissingError)):
		n.lacks(field, err.Error(), asked)
	case err != nil:
		n.lacks(field, fmt.Sprintf("%s cannot be read: %v", a, err), asked)
	default:
		asked.Position = n.root.Unit.Position(e.ctx, field)
		n.root.Unit.Artifact = asked
		n.root.Unit.Release.Chart, n.root.Unit.Release.Digest = a, pin.Digest
	}
}

// lacks makes a release one whose chart is not there; asked is what would have to be.
func (n *node) lacks(field, why string, asked *render.Artifact) {
	for _, at := range n.root.Unit.Release.Named {
		if at.Root == n.root.Unit.Parent && at.Index == n.root.Unit.Index && hasField(n.root.Unit.Object, at.Path) {
			field = at.Path
			break
		}
	}
	n.fail(render.ProblemRefused, field, why)
	if asked != nil {
		asked.Position = n.root.Unit.Problem.Position
		n.root.Unit.Artifact = asked
	}
}

// invalid makes a release one that cannot be installed, unless there is another reason.
func (n *node) invalid(field, why string) {
	if n.root.Unit.Problem == nil {
		n.fail(render.ProblemFailed, field, why)
	}
}

func hasField(object json.RawMessage, path string) bool {
	_, ok := origin.Field((&render.Object{JSON: object}).Content(), path)
	return ok
}

// resolveValues finds what the values of a release are taken from.
func (e *expander) resolveValues(n *node) error {
	for i, from := range n.release.Spec.ValuesFrom {
		field := fmt.Sprintf("spec.valuesFrom[%d]", i)
		if from.Kind != "ConfigMap" && from.Kind != "Secret" {
			n.invalid(field, fmt.Sprintf("values from %q: only ConfigMap and Secret are allowed", from.Kind))
			return nil
		}
		object := render.ObjectRef{Kind: from.Kind, Namespace: n.release.namespace(), Name: from.Name}
		found, ok, err := e.lookUp(n.cluster, object)
		if err != nil {
			return err
		}
		reference := render.Reference{Object: object, TargetPath: from.TargetPath, Literal: from.Literal}
		key := cmp.Or(from.ValuesKey, "values.yaml")
		switch {
		case !ok && from.Optional:
			e.remark(n, field, fmt.Sprintf("%s is optional and not in the repository: it is taken to have no values", object))
			continue
		case !ok:
			reference.Unknown = fmt.Sprintf("%s, from which values are taken, is not in the repository", object)
		default:
			if !valuesAt(found, key, &reference) {
				if !from.Optional {
					n.invalid(field, fmt.Sprintf("%s, from which values are taken, has no key %s", object, key))
					return nil
				}
				continue
			}
		}
		n.root.Unit.Release.References = append(n.root.Unit.Release.References, reference)
	}
	return nil
}

// valuesAt takes values from a ConfigMap or Secret; ok is false when it has no such key.
func valuesAt(o held, key string, into *render.Reference) (ok bool) {
	var content struct {
		Data       map[string]any `json:"data"`
		StringData map[string]any `json:"stringData"`
	}
	_ = json.Unmarshal(o.object.JSON, &content) // it was encoded here; the API server refuses other types
	field, fields := "data", content.Data
	if _, there := content.StringData[key]; there && o.Kind == "Secret" {
		field, fields = "stringData", content.StringData
	}
	text, isText := fields[key].(string)
	if _, ok = fields[key]; !ok {
		into.Unknown = unknownIn(o)
		return into.Unknown != ""
	}
	into.Written = render.FieldRef{Root: o.root, Index: o.object.Index, Path: origin.AppendKey(field, key)}
	switch why := unknownKeys(o.object)(field, key); {
	case why != "":
		into.Unknown = fmt.Sprintf("of %s %s", o.ref(), why)
	case !isText:
		into.Unknown = fmt.Sprintf("%s of %s is no text", key, o.ref())
	case field == "data" && o.Kind == "Secret":
		data, err := base64.StdEncoding.DecodeString(text)
		if into.Data = string(data); err != nil {
			into.Unknown = fmt.Sprintf("%s of %s is not base64", key, o.ref())
		}
	default:
		into.Data = text
	}
	return true
}

// unknownIn says why the keys of an object are not known; it is empty when they are.
func unknownIn(o held) string {
	for _, u := range o.object.Unknown {
		if len(u.Path) == 0 || len(u.Path) == 1 && (u.Path[0] == "data" || u.Path[0] == "stringData") {
			return fmt.Sprintf("of %s %s", o.ref(), u.Reason)
		}
	}
	return ""
}
