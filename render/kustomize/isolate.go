package kustomize

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/kustomize/build"
	"github.com/preadmit/preadmit/render/tree"
)

// A root is rendered in a process of its own by re-executing the program. The
// child has no environment, no arguments of the user's, and no access to files
// but what it asks its parent for, over a protocol of JSON lines: the parent
// sends one childJob, the child sends childAsk lines and reads a childAnswer to
// each, and ends with a childAsk that holds the result.

// childJob is what the parent sends first.
type childJob struct {
	Root           render.Root           `json:"root"`
	LoadRestrictor render.LoadRestrictor `json:"loadRestrictor,omitempty"`
	Limits         tree.Limits           `json:"limits"`
}

// childAsk is a line from the child: a look-up, or the result.
type childAsk struct {
	Stat string `json:"stat,omitempty"`
	Link string `json:"link,omitempty"`
	Read string `json:"read,omitempty"`
	// Mount asks where an artifact is.
	Mount  *artifact.Artifact `json:"mount,omitempty"`
	Result *childResult       `json:"result,omitempty"`
}

// childAnswer is the parent's answer to a look-up.
type childAnswer struct {
	Data    []byte      `json:"data,omitempty"`
	Target  string      `json:"target,omitempty"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	Size    int64       `json:"size,omitempty"`
	Missing bool        `json:"missing,omitempty"`
	// None is set when there are no artifacts.
	None  bool   `json:"none,omitempty"`
	Error string `json:"error,omitempty"`
}

// childResult is a Result on the wire.
type childResult struct {
	Objects []json.RawMessage `json:"objects,omitempty"`
	// Unknown are the unknown fields of the objects, by their indexes.
	Unknown map[int][]render.Unknown `json:"unknown,omitempty"`
	Trace   tree.Trace               `json:"trace"`
	Problem *render.Problem          `json:"problem,omitempty"`
}

// isolateTimeout bounds one child: some schemas make kustomize run in a circle.
const isolateTimeout = time.Minute

// Isolate makes an Isolator that runs a program which calls ChildMain, once per
// root, with an empty environment.
func Isolate(program string, args ...string) render.Isolator {
	return func(ctx context.Context, root render.Root, fsys fs.FS, opts render.Options) (*render.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, isolateTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = []string{"GOTRACEBACK=none"}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		job := childJob{Root: root, LoadRestrictor: opts.LoadRestrictor, Limits: opts.Limits}
		result, serveErr := serveChild(job, fsys, stdout, stdin)
		stdin.Close()
		if serveErr != nil {
			// It may be waiting for an answer that will not come.
			_ = cmd.Process.Kill()
		}
		waitErr := cmd.Wait()
		if serveErr == nil {
			return result, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, childFailure(serveErr, waitErr, stderr.String())
	}
}

// childFailure returns why a child gave no result.
func childFailure(serveErr, waitErr error, stderr string) error {
	first, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	if errors.Is(serveErr, io.EOF) && first != "" {
		return fmt.Errorf("the process died: %s", first)
	}
	if errors.Is(serveErr, io.EOF) && waitErr != nil {
		return fmt.Errorf("the process died: %w", waitErr)
	}
	return serveErr
}

// serveChild answers a child until it sends the result.
func serveChild(job childJob, fsys fs.FS, from io.Reader, to io.Writer) (*render.Result, error) {
	t := tree.New(fsys, job.Limits)
	encoder := json.NewEncoder(to)
	if err := encoder.Encode(job); err != nil {
		return nil, fmt.Errorf("send the job: %w", err)
	}
	decoder := json.NewDecoder(bufio.NewReader(from))
	for {
		var ask childAsk
		if err := decoder.Decode(&ask); err != nil {
			return nil, fmt.Errorf("read from the process: %w", err)
		}
		if ask.Result != nil {
			return ask.Result.result(job.Root), nil
		}
		if err := encoder.Encode(answerChild(t, ask)); err != nil {
			return nil, fmt.Errorf("answer the process: %w", err)
		}
	}
}

// answer looks something up for a child.
func answerChild(t *tree.Tree, ask childAsk) childAnswer {
	var out childAnswer
	var err error
	switch {
	case ask.Read != "":
		out.Data, err = t.Read(ask.Read)
	case ask.Mount != nil:
		var ok bool
		out.Target, ok, err = t.Mount(*ask.Mount)
		out.None = !ok
	case ask.Link != "":
		if t.Links == nil {
			err = fs.ErrInvalid
		} else {
			out.Target, err = t.Links.ReadLink(ask.Link)
		}
	default:
		var info fs.FileInfo
		if info, err = t.Lstat(ask.Stat); err == nil {
			out.Mode, out.Size = info.Mode(), info.Size()
		}
	}
	if err != nil {
		return childAnswer{Error: err.Error(), Missing: errors.Is(err, fs.ErrNotExist)}
	}
	return out
}

func (c *childResult) result(root render.Root) *render.Result {
	result := &render.Result{Root: root, Trace: c.Trace, Problem: c.Problem}
	for i, data := range c.Objects {
		result.Objects = append(result.Objects, &render.Object{JSON: data, Index: i, Unknown: c.Unknown[i]})
	}
	return result
}

// ChildMain is the other side of Isolate: it renders the one root that stdin
// names, with files read through stdin and stdout, and writes the result to
// stdout. The process should end afterwards: the root's schema stays in it.
func ChildMain(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	client := &childFS{in: json.NewDecoder(bufio.NewReader(stdin)), out: json.NewEncoder(stdout)}
	var job childJob
	if err := client.in.Decode(&job); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	// As in the kustomize command, a schema of the root's own replaces the
	// built-in one, so the latter must not be there yet.
	openapi.ResetOpenAPI()
	r := &Source{tree: tree.New(client, job.Limits), opts: render.Options{LoadRestrictor: job.LoadRestrictor}}
	result := &render.Result{Root: job.Root, Trace: tree.NewTrace()}
	c := build.Walk(r.tree, job.Root.Dir, result.Trace)
	if result.Problem = atEntry(c, c.Problem()); result.Problem == nil {
		r.build(result, c)
	}
	reply := &childResult{Trace: result.Trace, Problem: result.Problem, Unknown: map[int][]render.Unknown{}}
	for i, o := range result.Objects {
		reply.Objects = append(reply.Objects, o.JSON)
		if len(o.Unknown) > 0 {
			reply.Unknown[i] = o.Unknown
		}
	}
	if err := client.out.Encode(childAsk{Result: reply}); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return ctx.Err()
}
