package queue

import (
	"strings"
	"sync"
)

// maxInterned limits the strings that interner keeps.
const maxInterned = 4096

// interner lets equal strings of many records share memory: names of repositories, of states,
// of people.
type interner struct {
	mutex sync.Mutex
	known map[string]string
}

// share replaces strings by equal ones that are known already.
func (w *interner) share(texts ...*string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, text := range texts {
		*text = w.one(*text)
	}
}

func (w *interner) one(text string) string {
	if text == "" {
		return ""
	}
	if known, ok := w.known[text]; ok {
		return known
	}
	if w.known == nil || len(w.known) == maxInterned {
		w.known = map[string]string{} // those in use will be added again
	}
	text = strings.Clone(text) // it may be part of a large buffer
	w.known[text] = text
	return text
}

// shareJob shares the strings that jobs have in common. No other goroutine may use the job yet.
func (w *interner) shareJob(j *Job) {
	w.share((*string)(&j.Kind), &j.Owner, &j.Repo, &j.Ref, &j.Base, &j.Sender, &j.Reason)
	j.Command = strings.Clone(j.Command) // the comment that it is part of may be long
}

// shareRecord shares the strings of a subject's record.
func (w *interner) shareRecord(r *record) {
	w.shareJob(&r.Job)
	for i := range r.Replaced {
		w.shareJob(&r.Replaced[i].Job)
	}
	if r.Holder != nil {
		w.share(&r.Holder.Owner)
	}
}

// shareScan shares the strings of a scan.
func (w *interner) shareScan(s *Scan) {
	w.share((*string)(&s.Kind), (*string)(&s.State), &s.Owner, &s.Repo, &s.Author, &s.Base, &s.Ref, &s.BaseRef,
		&s.Stage, &s.Conclusion, &s.Reason)
	if s.Judged == s.Head {
		s.Judged = s.Head
	}
}
