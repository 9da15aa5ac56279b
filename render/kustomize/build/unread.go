package build

import (
	"fmt"
	"path"
	"slices"

	"github.com/preadmit/preadmit/render"
)

// Unread is a file of a ConfigMap or Secret generator that lies elsewhere and is not there. A
// file with its address is in its place.
type Unread struct {
	Entry
	// Why says so in the words of a refusal.
	Why     string
	standIn string
}

// Problem is what keeps kustomize from building the closure with the file.
func (u *Unread) Problem() *render.Problem {
	return &render.Problem{Kind: render.ProblemRefused, Position: u.Position(), Message: Quote(u.Value) + " " + u.Why}
}

// isGeneratorFile reports whether an entry is a file of a generator whose content is a value.
func (e Entry) isGeneratorFile() bool {
	return len(e.At) == 4 && (e.At[0] == "configMapGenerator" || e.At[0] == "secretGenerator") && e.At[2] == "files"
}

// leaveOutFile puts a stand-in in the place of a generator's file.
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

// unreadContent is what kustomize reads in the place of a generator's file.
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

// ReadsValues reports whether something in the closure reads values of objects, and may fail for
// want of another one.
func (c *Closure) ReadsValues() bool {
	return slices.ContainsFunc(c.Files, func(k *Kustomization) bool {
		s := &k.Spec
		return len(s.Replacements)+len(s.Vars)+len(s.Transformers)+len(s.Validators) > 0
	})
}

// Vary has kustomize read something else in the place of files of generators that are not
// there, and returns why they are not known; "" when all are there.
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
