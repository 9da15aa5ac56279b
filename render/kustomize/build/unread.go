package build

import (
	"fmt"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
)

// Unread is a remote file of a ConfigMap or Secret generator that is not available. A file with its address as
// content takes its place.
type Unread struct {
	Entry
	// Why is the end of a refusal message.
	Why     string
	standIn string
}

// Problem returns the reason why kustomize cannot build the closure with the file.
func (u *Unread) Problem() *render.Problem {
	return &render.Problem{Kind: render.ProblemRefused, Position: u.Position(), Message: Quote(u.Value) + " " + u.Why}
}

// isGeneratorFile reports whether an entry is a file whose content a generator uses as a value.
func (e Entry) isGeneratorFile() bool {
	return len(e.At) == 4 && (e.At[0] == "configMapGenerator" || e.At[0] == "secretGenerator") && e.At[2] == "files"
}

// leaveOutFile replaces a generator's file with a stand-in.
func (w *walker) leaveOutFile(e Entry, a render.Artifact, why string) (change edit, ok bool) {
	name := path.Join(e.From.Dir, fmt.Sprintf(".unread-%d", len(w.out.Unread)))
	if change, ok = e.From.edit(e, name); !ok {
		return edit{}, false
	}
	if node := e.From.nodeAt(e.At); node.Value == e.Value { // the key is the name of the file
		change.text = change.text[:1] + path.Base(e.Value) + "=" + change.text[1:]
	}
	w.need(a)
	w.out.Unread = append(w.out.Unread, &Unread{Entry: e, Why: why, standIn: name})
	return change, true
}

// unreadContent returns the content that kustomize reads instead of a generator's file.
func (c *Closure) unreadContent(name string) ([]byte, bool) {
	i := slices.IndexFunc(c.Unread, func(u *Unread) bool { return u.standIn == name })
	if i < 0 {
		return nil, false
	}
	if c.varied {
		return []byte(c.Unread[i].Value + "?"), true
	}
	return []byte(c.Unread[i].Value), true
}

// ReadsValues reports whether something in the closure reads values of objects, so that its build may fail
// with another value.
func (c *Closure) ReadsValues() bool {
	return slices.ContainsFunc(c.Files, func(k *Kustomization) bool {
		s := &k.Spec
		return len(s.Replacements)+len(s.Vars)+len(s.Transformers)+len(s.Validators) > 0
	})
}

// Vary gives the stand-ins of unavailable generators' files another content, and returns why their values are
// unknown; "" when all files are available.
func (c *Closure) Vary() string {
	if len(c.Unread) == 0 {
		return ""
	}
	c.varied = true
	if n := len(c.Unread) - 1; n > 0 {
		return fmt.Sprintf("it follows from %s or %d more that are not fetched", Quote(c.Unread[0].Value), n)
	}
	return fmt.Sprintf("it follows from %s, which %s", Quote(c.Unread[0].Value), c.Unread[0].Why)
}
