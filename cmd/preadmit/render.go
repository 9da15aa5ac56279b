package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/scan"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/report/format/objects"
	"github.com/preadmit/preadmit/scanner/lines"
)

func newRenderCommand(p cli.Process) *cobra.Command {
	f := newRenderFlags()
	cmd := &cobra.Command{
		Use:   "render [ROOT | KIND/NAMESPACE/NAME]",
		Short: "Print the objects of a root, with the line of each field",
		Long: `Print the objects that a root renders to, as YAML with sorted keys. Roots are
rendered as in a scan.

ROOT is a directory with a kustomization or with plain manifests, by default the
current one. Inside a git repository it may use files anywhere in the work tree
or, with --rev, in the commit. Outside of one it may use only files below ROOT, or
below the directory of --tree.

--origin appends to every line with a value the place where it is written:

  replicas: 4 # overlays/production/kustomization.yaml:9
  name: web # (app/web.yaml:3)    the line of a parent field
  name: web # ?                   not known

A comment above each object has its file, and the entries of the kustomizations
that use it:

  # app/web.yaml:1 -> app/kustomization.yaml:4 -> overlays/production/kustomization.yaml:3

--field also shows the earlier values of the field, in the order in which they
were applied.

Values of Secrets are masked, unless --show-secrets is given.

Exit code: 0 printed, 1 no object or field matches, 2 wrong usage or configuration,
3 the root does not render.`,
		Example: `  # All objects, with the line of every field
  preadmit render --origin overlays/production

  # Which line sets the image of this container?
  preadmit render --field spec.template.spec.containers[0].image --object Deployment/web overlays/production

  # The objects of a root in scan --base-path before after
  preadmit render --tree after overlays/production`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("render takes one ROOT, got %q", args)
			}
			f.scan.Path = append(args, ".")[0]
			if isUnit(f.scan.Path) {
				f.unit, f.scan.Path = f.scan.Path, "."
			}
			return nil
		},
		ValidArgsFunction: directoriesOnly,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runRender(cmd.Context(), p, f) },
	}
	f.register(cmd)
	return cmd
}

func directoriesOnly(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// runRender runs the command: it renders a root and writes its objects to stdout.
func runRender(ctx context.Context, p cli.Process, f *renderFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	tree, dir, err := f.open()
	if err != nil {
		return err
	}
	change := &scan.Change{Head: tree, Remotes: f.remotes}
	cfg, _, err := scan.LoadConfig(f.scan, change)
	if err != nil {
		return err
	}
	if err := scan.AsRendered(ctx, p, &cfg); err != nil {
		return err
	}
	if err := f.scan.Mount(ctx, p, change, cfg); err != nil {
		return err
	}
	tree = change.Head
	renderer := sources.NewRenderer(tree.FS, scan.RenderOptions(p, cfg.LoadRestrictor, nil))
	if f.all {
		return f.printAll(ctx, p, renderer, cfg)
	}
	root, remarks, err := f.find(ctx, renderer, cfg, dir)
	if err != nil {
		return err
	}
	result := renderer.Render(ctx, root)
	switch {
	case ctx.Err() != nil:
		return context.Canceled
	case result.Problem != nil:
		return f.broken(tree.FS, root, result.Problem)
	}
	if result.Lacks != nil {
		remarks = append(remarks, render.Diagnostic{Severity: render.SeverityWarning, Position: result.Lacks.Position, Message: result.Lacks.Why})
	}
	writeRemarks(p.Stderr, append(remarks, result.Diagnostics...))
	return f.print(ctx, p.Stdout, renderer, result)
}

// broken returns the error of a root that does not render.
func (f *renderFlags) broken(tree fs.FS, root render.Root, problem *render.Problem) error {
	hint := ""
	if f.alone && root.Kind == render.KindKustomize {
		hint = "\nthere is no git repository around ROOT, so that it may only use its own files: --tree names a directory that holds more"
	}
	return fmt.Errorf("%s does not render: %s%s", escape.Line(root.Dir), escape.Line(lines.Concealed(tree, problem)), hint)
}

// print writes the objects, or the field, that the flags select.
func (f *renderFlags) print(ctx context.Context, w io.Writer, renderer *render.Renderer, result *render.Result) error {
	located := make([]objects.Located, len(result.Objects))
	for i, o := range result.Objects {
		located[i].Object = o
	}
	if f.origin || f.field != "" {
		sources, err := renderer.Origins(ctx, result)
		if err != nil {
			return fmt.Errorf("find where the objects of %s were written: %w", escape.Line(result.Root.Dir), err)
		}
		for i, source := range sources {
			located[i].Source = source
		}
	}
	chosen := f.choose(located)
	opts := objects.Options{Origin: f.origin, ShowSecrets: f.showSecrets}
	switch {
	case f.object != "" && len(chosen) == 0:
		return f.noObject(result.Root, located)
	case f.field == "":
		return objects.Write(w, chosen, opts)
	}
	lines, err := objects.WriteField(w, chosen, f.field, opts)
	if err == nil && lines == 0 {
		return f.noField(result.Root, chosen)
	}
	return err
}

// choose returns the objects that --object names, all objects without it.
func (f *renderFlags) choose(located []objects.Located) (chosen []objects.Located) {
	wantKind, wantName, both := strings.Cut(f.object, "/")
	if !both {
		wantKind, wantName = "", f.object
	}
	for _, o := range located {
		kind, name := o.KindAndName()
		if f.object == "" || name == wantName && (!both || strings.EqualFold(kind, wantKind)) {
			chosen = append(chosen, o)
		}
	}
	return chosen
}

// noObject returns the error of an --object that does not exist, with the possible ones.
func (f *renderFlags) noObject(root render.Root, located []objects.Located) error {
	names := make([]string, len(located))
	for i, o := range located {
		names[i] = objects.Name(o.Object)
	}
	return notFound("--object %s: there is none in %s, which renders to %s",
		escape.Line(f.object), escape.Line(root.Dir), listed(names, "nothing"))
}

// noField returns the error of a field that no object has. For a single object it has the line
// where a finding about the field would be.
func (f *renderFlags) noField(root render.Root, chosen []objects.Located) error {
	if len(chosen) != 1 {
		return notFound("--field %s: none of %s in %s has it",
			escape.Line(f.field), cli.Count(len(chosen), "object", "objects"), escape.Line(root.Dir))
	}
	near, _ := chosen[0].Source.Find(f.field)
	return notFound("--field %s: %s does not have it; the nearest line above is %s",
		escape.Line(f.field), objects.Name(chosen[0].Object), escape.Line(near.String()))
}

func notFound(format string, args ...any) error {
	return &cli.ExitError{Code: cli.ExitFindings, Err: fmt.Errorf(format, args...)}
}

func writeRemarks(stderr io.Writer, remarks []render.Diagnostic) {
	for _, d := range remarks {
		_, _ = fmt.Fprintf(stderr, "preadmit: %s: %s\n", d.Severity, escape.Line(d.String()+": "+d.Message))
	}
}
