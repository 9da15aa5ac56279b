package argocd

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/kustomize"
	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/render/tree"
)

// kustomizePart is a kustomization, with the options of the Application.
type kustomizePart struct {
	*part
	inner *kustomize.Source
	// edited is the kustomization file with the options; nil if there are no options.
	edited *edited
}

// kustomization sets up a part as a kustomization. It returns a problem if the options cannot be applied.
func (p *part) kustomization() *render.Problem {
	k := &kustomizePart{part: p}
	p.maker = k
	t, opts := p.tree, p.opts
	opts.LoadRestrictor = restrictor(p.root.Unit.Application.BuildOptions)
	var of Kustomize
	if p.source.Kustomize != nil {
		of = *p.source.Kustomize
	}
	var err error
	if opts.ChartKubeVersion, opts.ChartAPIVersions, err = p.capabilities(of.KubeVersion, of.APIVersions); err != nil {
		return p.failed(p.field("kustomize.kubeVersion"), err)
	}
	opts.ChartKinds = !p.knowsKinds(of.APIVersions)
	options := strings.Fields(p.root.Unit.Application.BuildOptions)
	if i := slices.IndexFunc(options, isNotFollowed); i >= 0 {
		return p.refused(p.field("kustomize"), fmt.Sprintf("kustomize.buildOptions of Argo CD have %s, which is not followed", options[i]))
	}
	if !slices.ContainsFunc(options, func(o string) bool { return o == "--enable-helm" || o == "--enable-helm=true" }) {
		opts.NoCharts = "helmCharts are inflated by Argo CD only where kustomize.buildOptions have --enable-helm"
		if opts.ChartsUnsettled = !p.root.Unit.Application.Settled; opts.ChartsUnsettled {
			opts.NoCharts += ": " + cmp.Or(p.root.Unit.Application.Unsettled, "the repository does not have its settings") + "; argocd.kustomizeBuildOptions in the configuration has them"
		}
	}
	if p.source.Kustomize != nil && !p.source.Kustomize.isEmpty() {
		file, ok := p.kustomizationFile()
		if !ok {
			return p.failed(p.field("kustomize"), fmt.Errorf("there is no kustomization file in %s", p.dir))
		}
		data, _, err := t.Load(file, tree.NewTrace())
		if err != nil {
			return render.Unreadable(file, err)
		}
		e, err := edit(p, file, data)
		if err != nil {
			return p.editProblem(file, data, err)
		}
		k.edited = e
		t = t.Beside(&overlay{t, map[string][]byte{file: e.data}})
	}
	k.inner = kustomize.New(t, opts).(*kustomize.Source)
	return nil
}

// isEmpty reports whether the options do not change the kustomization file.
func (k *Kustomize) isEmpty() bool {
	return k.NamePrefix == "" && k.NameSuffix == "" && k.Namespace == "" && len(k.Images)+len(k.CommonLabels)+len(k.CommonAnnotations)+len(k.Replicas)+len(k.Patches)+len(k.Components) == 0
}

// isNotFollowed reports whether an option of `kustomize build` may lead to other objects and is not supported.
func isNotFollowed(option string) bool {
	name, _, _ := strings.Cut(strings.ReplaceAll(option, "_", "-"), "=")
	return strings.HasPrefix(name, "-") && !slices.Contains([]string{
		"--enable-helm", "--load-restrictor", "--enable-alpha-plugins", "--enable-exec", "--enable-star", "--network", "--network-name",
		"--as-current-user", "--allow-id-changes", "--helm-command", "--reorder", "--stack-trace", "--mount", "--env", "-e",
	}, name)
}

// restrictor returns the load restrictor in options of `kustomize build`.
func restrictor(buildOptions string) render.LoadRestrictor {
	fields := strings.Fields(strings.ReplaceAll(buildOptions, "=", " "))
	for i, f := range fields {
		if (f == "--load-restrictor" || f == "--load_restrictor") && i+1 < len(fields) && strings.HasSuffix(strings.ToLower(fields[i+1]), "none") {
			return render.LoadRestrictionsNone
		}
	}
	return render.LoadRestrictionsRootOnly
}

// tracePlugin records what a config management plugin probably reads: all files at and below the directory of the
// source, and what a kustomization in it reads, because many plugins build it. The plugin may read more.
func (p *part) tracePlugin() {
	p.tree.TraceBelow(p.dir, p.trace)
	if _, ok := p.kustomizationFile(); ok {
		root := render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: p.dir}}
		addTrace(p.trace, kustomize.New(p.tree, p.opts).Needs(root).Trace)
	}
}

// kustomizationFile returns the kustomization file in the directory of a source.
func (p *part) kustomizationFile() (string, bool) {
	for _, name := range tree.KustomizationNames() {
		if to := p.tree.Resolve(path.Join(p.dir, name)); to.Err == nil && !to.IsDir {
			return to.Real, true
		}
	}
	return "", false
}

func (k *kustomizePart) asRoot() render.Root {
	return render.Root{RootID: render.RootID{Kind: render.KindKustomize, Dir: k.dir}}
}

func (k *kustomizePart) needs() *render.Needs {
	in := k.inner.Needs(k.asRoot())
	out := &render.Needs{Trace: k.realTrace(in.Trace), Problem: k.realProblem(in.Problem), Lacks: k.realLack(in.Lacks), Artifacts: in.Artifacts, Charts: in.Charts, Composition: in.Composition}
	if k.edited != nil {
		data := k.edited.data
		out.Texts = func(files [][]byte) ([][]byte, bool) { return append([][]byte{data}, files...), false }
	}
	return out
}

func (k *kustomizePart) manifests() render.Manifests { return k.inner.Manifests(k.asRoot()) }

func (k *kustomizePart) make(ctx context.Context, trace tree.Trace) (*made, *render.Problem) {
	result := k.inner.Render(ctx, k.asRoot())
	addTrace(trace, k.realTrace(result.Trace))
	if result.Problem != nil {
		return nil, k.realProblem(result.Problem)
	}
	return &made{objects: result.Objects, diagnostics: result.Diagnostics, lacks: k.realLack(result.Lacks), origins: func(ctx context.Context) ([]*origin.Origin, error) {
		all, err := k.inner.Origins(ctx, result)
		if err != nil || k.edited == nil {
			return all, err
		}
		for i, o := range all {
			all[i] = o.Moved(func(p tree.Position) (tree.Position, string) { return k.real(p), "" })
		}
		return all, nil
	}}, nil
}

// real converts a position in the edited file to one in the tree.
func (k *kustomizePart) real(p tree.Position) tree.Position {
	if k.edited == nil || p.Path != k.edited.file {
		return p
	}
	return k.edited.real(p)
}

// realLack converts the position of a Lack of the edited kustomization to one in the tree.
func (k *kustomizePart) realLack(l *render.Lack) *render.Lack {
	if l == nil || k.edited == nil {
		return l
	}
	out := *l
	out.Position = k.real(l.Position)
	return &out
}

// realProblem converts the position of a problem of the edited kustomization to one in the tree. If the build options
// are not known, a failure becomes a refusal, because it may not occur.
func (k *kustomizePart) realProblem(p *render.Problem) *render.Problem {
	if p == nil {
		return nil
	}
	out := *p
	if k.edited != nil {
		out.Position = k.real(p.Position)
	}
	if why := k.root.Unit.Application.Unsettled; why != "" && p.Kind == render.ProblemFailed {
		out.Kind, out.Message = render.ProblemRefused, fmt.Sprintf("%s: the options of kustomize are not known: %s", p.Message, why)
	}
	return &out
}

// realTrace converts a trace of the overlay to one of the tree.
func (k *kustomizePart) realTrace(of tree.Trace) tree.Trace {
	if k.edited == nil {
		return of
	}
	trace := tree.NewTrace()
	addTrace(trace, of)
	k.tree.TraceFile(k.edited.file, trace)
	return trace
}
