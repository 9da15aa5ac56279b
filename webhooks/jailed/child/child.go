package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	_ "time/tzdata" // the jail has no files of the system, and time zones are judged

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/scanner"
	"github.com/preadmit/preadmit/scanner/admission/emulation"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/diff"
	"github.com/preadmit/preadmit/scanner/release"
	"github.com/preadmit/preadmit/webhooks/jailed"
)

// stackBytes limits the stack of a goroutine: enough for everything within the limits of rendering,
// so that endless recursion ends soon.
const stackBytes = 256 << 20

// PartStarter starts another process in the jail, which runs PartMain, for the targets of another release
// of Kubernetes than this process emulates.
type PartStarter func(ctx context.Context, r release.Release, job []byte) (*scanner.Part, error)

// Main is the child's side of jailed.Scanner.Scan. It reads a job from in and writes messages to
// out; the process should end afterwards. It must have entered its jail. Roots with a schema of
// their own are rendered by isolate.
func Main(ctx context.Context, in io.Reader, out io.Writer, isolate render.Isolator, ask PartStarter) error {
	j, err := readJob(in)
	if err != nil {
		return err
	}
	t := &sender{out: out}
	r, failOn, err := j.scan(ctx, t, isolate, ask)
	if err != nil {
		return t.sendError(err)
	}
	var document bytes.Buffer
	if err := format.Write(&document, "json", r, format.Options{}); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := t.send(jailed.Message{Answer: &jailed.AnswerMessage{Bytes: document.Len(), FailOn: failOn}}); err != nil {
		return err
	}
	_, err = document.WriteTo(out)
	return err
}

// PartMain is the main function of a process that an Asker starts: it reads a job from in, judges
// the targets of the release that the process emulates, and writes the part to out. Missing
// artifacts are reported by the process that runs Main.
func PartMain(ctx context.Context, in io.Reader, out io.Writer, isolate render.Isolator) error {
	j, err := readJob(in)
	if err != nil {
		return err
	}
	s, err := j.open(&sender{out: io.Discard}, isolate)
	if err != nil {
		return err
	}
	part, err := scanner.ScanPart(ctx, s.Input)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(part)
}

func readJob(in io.Reader) (*job, error) {
	debug.SetMaxStack(stackBytes)
	j := &job{}
	if err := json.NewDecoder(in).Decode(j); err != nil {
		return nil, fmt.Errorf("read the job: %w", err)
	}
	return j, nil
}

// job is a jailed.Job.
type job jailed.Job

// mistake is an error whose cause is in the repository.
type mistake struct{ error }

// opened is a job with its trees and configuration.
type opened struct {
	scanner.Input
	remarks []report.Diagnostic
	outside *mounted
}

// open opens the trees and the configuration of the job.
func (j *job) open(t *sender, isolate render.Isolator) (*opened, error) {
	base, head, err := trees(&j.Request)
	if err != nil {
		return nil, err
	}
	cfg, remarks, err := configuration(base, head)
	if err != nil {
		return nil, mistake{err}
	}
	outside, err := j.mount(base, head, cfg.AllowedURLs())
	if err != nil {
		return nil, mistake{err}
	}
	in := scanner.Input{
		Base: base, Head: *head, Remotes: j.Request.Remotes, Config: cfg,
		Render:  render.Options{LoadRestrictor: render.LoadRestrictor(cfg.LoadRestrictor), Isolate: isolate},
		Version: j.Request.Version, Workers: j.Workers,
		Progress: t.progress, Rendering: t.rendering, Refused: map[string]string{},
	}
	if j.Request.Diff {
		in.Diff = &diff.Limits{}
	}
	for _, refused := range j.Refused {
		in.Refused[string(refused.Root)] = refused.Why
	}
	return &opened{in, remarks, outside}, nil
}

// scan runs the job with the configuration of the base.
func (j *job) scan(ctx context.Context, t *sender, isolate render.Isolator, ask PartStarter) (*report.Report, string, error) {
	s, err := j.open(t, isolate)
	if err != nil {
		return nil, "", err
	}
	releases, err := s.Config.Releases()
	if err == nil {
		err = emulation.Set(releases[0])
	}
	if err != nil {
		return nil, "", mistake{err}
	}
	part, err := scanner.ScanPart(ctx, s.Input)
	if err != nil {
		if input := new(scanner.InputError); errors.As(err, &input) {
			return nil, "", mistake{err}
		}
		return nil, "", fmt.Errorf("scan: %w", err)
	}
	if lacks := s.outside.lacks(); len(lacks) > 0 {
		return nil, "", &lacking{lacks}
	}
	parts := []*scanner.Part{part}
	for _, r := range releases[1:] {
		encoded, err := json.Marshal(j)
		if err != nil {
			return nil, "", fmt.Errorf("encode the job: %w", err)
		}
		if part, err = ask(ctx, r, encoded); err != nil {
			return nil, "", fmt.Errorf("scan: %w", err)
		}
		parts = append(parts, part)
	}
	r := scanner.Join(parts)
	r.Diagnose(append(s.remarks, s.outside.notes()...)...)
	return r, s.Config.FailOn, nil
}

// configuration returns the configuration of the base, or of the head if there is no base.
func configuration(base, head *scanner.Tree) (config.Config, []report.Diagnostic, error) {
	if base == nil {
		cfg, remarks, err := config.Load(nil, head.FS)
		if err != nil {
			err = fmt.Errorf("configuration:\n%w", err)
		}
		return cfg, remarks, err
	}
	cfg, remarks, err := config.Load(base.FS, head.FS)
	if err != nil {
		err = fmt.Errorf("configuration of the base:\n%w\nmend it there first", err)
	}
	return cfg, remarks, err
}

// trees opens the commits. base is nil without Base.
func trees(r *jailed.Request) (base, head *scanner.Tree, err error) {
	if head, err = openTree(r.Repository, r.Head, r.HeadName); err != nil || r.Base == "" {
		return nil, head, err
	}
	repository := r.BaseRepository
	if repository == "" {
		repository = r.Repository
	}
	base, err = openTree(repository, r.Base, r.BaseName)
	return base, head, err
}

func openTree(repository, commit, name string) (*scanner.Tree, error) {
	opened, err := gittree.Open(repository)
	if err != nil {
		return nil, err
	}
	c, err := opened.Commit(commit)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name = commit
	}
	return &scanner.Tree{FS: c.FS(), Revision: report.Revision{Name: name, Commit: c.Hash()}}, nil
}

// sender sends messages. It is safe for concurrent use.
type sender struct {
	mu   sync.Mutex
	out  io.Writer
	last int // last ID of a root
	// stage is the last progress sent.
	stage jailed.StageMessage
}

func (t *sender) send(m jailed.Message) error {
	line, err := m.Encode()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.out.Write(line); err != nil {
		return fmt.Errorf("write to the parent: %w", err)
	}
	return nil
}

// sendError sends the message that replaces a report.
func (t *sender) sendError(err error) error {
	if l := new(lacking); errors.As(err, &l) {
		return t.send(jailed.Message{Lacks: &jailed.LacksMessage{Artifacts: l.artifacts}})
	}
	said := jailed.NewErrorMessage(err.Error())
	if m := new(mistake); errors.As(err, m) {
		return t.send(jailed.Message{Mistake: said})
	}
	return t.send(jailed.Message{Failure: said})
}

// steps is the number of steps in which the progress of a stage is sent.
const steps = 100

// progress is scanner.Input.Progress. It ignores write errors: if the parent is gone, the kernel ends
// the process.
func (t *sender) progress(stage string, done, total int) {
	now := jailed.StageMessage{Name: stage, Done: done, Total: total}
	t.mu.Lock()
	worth := stage != t.stage.Name || done == total || done-t.stage.Done >= max(1, total/steps)
	if worth {
		t.stage = now
	}
	t.mu.Unlock()
	if worth {
		_ = t.send(jailed.Message{Stage: &now})
	}
}

// rendering is scanner.Input.Rendering.
func (t *sender) rendering(root, _ string) (done func()) {
	t.mu.Lock()
	t.last++
	id := t.last
	t.mu.Unlock()
	_ = t.send(jailed.Message{Begin: &jailed.BeginMessage{ID: id, Root: []byte(root)}})
	return func() { _ = t.send(jailed.Message{End: &jailed.EndMessage{ID: id}}) }
}
