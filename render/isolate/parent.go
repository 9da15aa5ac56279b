package isolate

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

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/tree"
)

// job is the first message from the parent.
type job struct {
	Kind   string          `json:"kind"`
	Spec   json.RawMessage `json:"spec"`
	Limits tree.Limits     `json:"limits"`
}

// request is a message from the child: a look-up, or the result.
type request struct {
	Stat string `json:"stat,omitempty"`
	Link string `json:"link,omitempty"`
	Read string `json:"read,omitempty"`
	// Mount requests the directory of an artifact.
	Mount  *artifact.Artifact `json:"mount,omitempty"`
	Result json.RawMessage    `json:"result,omitempty"`
}

// response is the parent's answer to a look-up.
type response struct {
	Data    []byte      `json:"data,omitempty"`
	Target  string      `json:"target,omitempty"`
	Mode    fs.FileMode `json:"mode,omitempty"`
	Size    int64       `json:"size,omitempty"`
	Missing bool        `json:"missing,omitempty"`
	// None is set when there are no artifacts.
	None  bool   `json:"none,omitempty"`
	Error string `json:"error,omitempty"`
}

// timeout is the limit for the elapsed time of a child: some schemas cause endless loops in kustomize.
const timeout = time.Minute

var tooLong = fmt.Sprintf("it takes more than %v", timeout)

// Error is the reason why a child gave no result.
type Error struct {
	// At is what it worked on; empty if it did not report that.
	At string
	// Why is the reason, for people.
	Why string
}

func (e *Error) Error() string { return e.Why }

// Program returns an Isolator that runs a program which calls Main, once per job, with an empty environment.
func Program(program string, args ...string) render.Isolator {
	return func(ctx context.Context, fsys fs.FS, limits tree.Limits, kind string, spec any) (json.RawMessage, error) {
		encoded, err := json.Marshal(spec)
		if err != nil {
			return nil, fmt.Errorf("write the job: %w", err)
		}
		bounded, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		cmd := exec.CommandContext(bounded, program, args...)
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
		result, serveErr := serve(job{Kind: kind, Spec: encoded, Limits: limits}, fsys, stdout, stdin)
		stdin.Close()
		if serveErr != nil {
			// It may be waiting for an answer.
			_ = cmd.Process.Kill()
		}
		waitErr := cmd.Wait()
		if serveErr == nil {
			return result, nil
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case bounded.Err() != nil:
			return nil, &Error{At: lastAt(stderr.String()), Why: tooLong}
		}
		return nil, failure(serveErr, waitErr, stderr.String())
	}
}

// lastAt returns what a child reported last that it worked on.
func lastAt(stderr string) (at string) {
	for line := range strings.Lines(stderr) {
		if what, ok := strings.CutPrefix(strings.TrimSpace(line), atMark); ok {
			at = what
		}
	}
	return at
}

// failure returns the reason why a child gave no result.
func failure(serveErr, waitErr error, stderr string) error {
	if !errors.Is(serveErr, io.EOF) {
		return serveErr
	}
	e := &Error{At: lastAt(stderr)}
	first := ""
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); first == "" && !strings.HasPrefix(line, atMark) {
			first = line
		}
	}
	switch over, isOver := strings.CutPrefix(first, overMark); {
	case isOver:
		e.Why = over
	case strings.Contains(first, "out of memory"), strings.Contains(first, "cannot allocate memory"):
		e.Why = tooMuchMemory
	case strings.Contains(first, "stack exceeds"):
		e.Why = "it is nested too deeply"
	case first != "":
		e.Why = "the process died: " + first
	case waitErr != nil:
		e.Why = fmt.Sprintf("the process died: %v", waitErr)
	default:
		return serveErr
	}
	return e
}

// serve answers a child until it sends the result.
func serve(j job, fsys fs.FS, from io.Reader, to io.Writer) (json.RawMessage, error) {
	t := tree.New(fsys, j.Limits)
	encoder := json.NewEncoder(to)
	if err := encoder.Encode(j); err != nil {
		return nil, fmt.Errorf("send the job: %w", err)
	}
	decoder := json.NewDecoder(bufio.NewReader(from))
	for {
		var q request
		if err := decoder.Decode(&q); err != nil {
			return nil, fmt.Errorf("read from the process: %w", err)
		}
		if q.Result != nil {
			return q.Result, nil
		}
		if err := encoder.Encode(look(t, q)); err != nil {
			return nil, fmt.Errorf("answer the process: %w", err)
		}
	}
}

// look performs a look-up for a child.
func look(t *tree.Tree, q request) response {
	var out response
	var err error
	switch {
	case q.Read != "":
		out.Data, err = t.Read(q.Read)
	case q.Mount != nil:
		var ok bool
		out.Target, ok, err = t.Mount(*q.Mount)
		out.None = !ok
	case q.Link != "":
		if t.Links == nil {
			err = fs.ErrInvalid
		} else {
			out.Target, err = t.Links.ReadLink(q.Link)
		}
	default:
		var info fs.FileInfo
		if info, err = t.Lstat(q.Stat); err == nil {
			out.Mode, out.Size = info.Mode(), info.Size()
		}
	}
	if err != nil {
		return response{Error: err.Error(), Missing: errors.Is(err, fs.ErrNotExist)}
	}
	return out
}
