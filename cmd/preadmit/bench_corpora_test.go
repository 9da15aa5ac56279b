package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/sources"
	"github.com/preadmit/preadmit/render/tree/gittree"
)

// plainKrusty is the environment variable that makes the test binary render the
// kustomizations listed on stdin, like the kustomize command.
const plainKrusty = "PREADMIT_PLAIN_KRUSTY"

// BenchmarkPullRequests scans the pull requests of a real repository as a process, without
// a cache and with one that a scan of the whole base has filled. It reports processor time,
// and its ratio to that of a process that renders the affected roots with plain krusty, from
// checkouts: at the head and, if their files differ, at the base. Pull requests that change
// policies count as affecting every root of the head.
func BenchmarkPullRequests(b *testing.B) {
	bundle := filepath.Join("..", "..", "..", "shared", "corpora", "gitops", "infra-deployments.bundle")
	if dir := os.Getenv("PREADMIT_CORPORA"); dir != "" {
		bundle = filepath.Join(dir, "gitops", "infra-deployments.bundle")
	}
	if _, err := os.Stat(bundle); err != nil {
		b.Skipf("%v: set PREADMIT_CORPORA to scan real pull requests", err)
	}
	binary := buildProgram(b)
	r := cloneBundle(b, bundle)
	for _, number := range []string{"8462", "8524", "13059", "13165", "13302", "13534"} {
		base, head := "origin/pr"+number+"-base", "origin/pr"+number+"-head"
		krusty := r.affected(b, base, head).render(b)
		for _, cache := range []string{"cold", "warm"} {
			b.Run("pr="+number+"/"+cache, func(b *testing.B) {
				var cpu time.Duration
				for b.Loop() {
					b.StopTimer()
					args := []string{"scan", "-q", "--base", base, "--head", head}
					if cache == "warm" {
						args = append(args, "--cache-dir", b.TempDir())
						r.fill(binary, base, args[len(args)-1])
					}
					b.StartTimer()
					cpu += r.scan(b, binary, args...)
				}
				cpu /= time.Duration(b.N)
				b.ReportMetric(float64(cpu.Milliseconds()), "cpu-ms")
				b.ReportMetric(float64(krusty.Milliseconds()), "krusty-ms")
				b.ReportMetric(cpu.Seconds()/krusty.Seconds(), "ratio")
			})
		}
	}
}

// bundled is a clone of a bundle.
type bundled struct{ dir string }

func cloneBundle(b *testing.B, bundle string) bundled {
	b.Helper()
	bundle, err := filepath.Abs(bundle)
	if err != nil {
		b.Fatal(err)
	}
	r := bundled{filepath.Join(b.TempDir(), "clone")}
	if out, err := exec.Command("git", "clone", "-q", "--no-checkout", bundle, r.dir).CombinedOutput(); err != nil {
		b.Fatalf("git clone: %v\n%s", err, out)
	}
	return r
}

// scan runs a scan and returns the processor time it took.
func (r bundled) scan(b *testing.B, binary string, args ...string) time.Duration {
	b.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir = r.dir
	return processorTime(b, cmd)
}

// fill scans a whole commit, of which not everything renders, into a cache.
func (r bundled) fill(binary, commit, cache string) {
	cmd := exec.Command(binary, "scan", "-q", "--head", commit, "--cache-dir", cache)
	cmd.Dir = r.dir
	_ = cmd.Run()
}

func processorTime(b *testing.B, cmd *exec.Cmd) time.Duration {
	b.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	exit := new(exec.ExitError)
	if err := cmd.Run(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != cli.ExitFindings) {
		b.Fatalf("%v\n%s", err, &stderr)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// affectedRoots has the kustomizations that a change affects, in checkouts.
type affectedRoots []string

// affected returns the kustomizations whose inputs differ and, if a policy changed, all
// kustomizations of the head.
func (r bundled) affected(b *testing.B, base, head string) (roots affectedRoots) {
	b.Helper()
	repository, err := gittree.Open(r.dir)
	if err != nil {
		b.Fatal(err)
	}
	diff, err := exec.Command("git", "-C", r.dir, "diff", base, head).Output()
	if err != nil {
		b.Fatal(err)
	}
	everything := bytes.Contains(diff, []byte("ValidatingAdmissionPolicy"))
	sides := [2]struct {
		renderer *render.Renderer
		found    *render.Discovery
		dir      string
	}{}
	for i, name := range []string{base, head} {
		commit, err := repository.Commit(name)
		if err != nil {
			b.Fatal(err)
		}
		sides[i].renderer = sources.NewRenderer(commit.FS(), render.Options{})
		if sides[i].found, err = sides[i].renderer.Discover(b.Context()); err != nil {
			b.Fatal(err)
		}
		sides[i].dir = filepath.Join(b.TempDir(), "checkout")
		if out, err := exec.Command("git", "-C", r.dir, "worktree", "add", "-q", "--detach", sides[i].dir, name).CombinedOutput(); err != nil {
			b.Fatalf("git worktree: %v\n%s", err, out)
		}
	}
	for i, side := range sides {
		for _, root := range side.found.Roots {
			in := side.renderer.Needs(root)
			differs := !sides[1-i].renderer.Valid(in.Trace)
			if root.Kind == render.KindKustomize && in.Problem == nil && (differs || everything && i == 1) {
				roots = append(roots, filepath.Join(side.dir, root.Dir))
			}
		}
	}
	return roots
}

// render renders the roots with krusty in a process of its own, and returns the
// processor time it took.
func (roots affectedRoots) render(b *testing.B) time.Duration {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), plainKrusty+"=1")
	cmd.Stdin = strings.NewReader(strings.Join(roots, "\n"))
	return processorTime(b, cmd)
}

// renderPlainly is the main function of the test binary with plainKrusty.
func renderPlainly(roots string) {
	for _, root := range strings.Fields(roots) {
		k := krusty.MakeKustomizer(&krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()})
		resources, err := k.Run(filesys.MakeFsOnDisk(), root)
		if err == nil {
			_, err = resources.AsYaml()
		}
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err) // it failed before the change too
		}
	}
}
