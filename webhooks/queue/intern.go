package queue

import (
	"strings"
	"sync"
)

// maxInterned bounds the texts that interner keeps.
const maxInterned = 4096

// interner lets texts that many records have be in memory once: names of repositories, of
// states, of people.
type interner struct {
	mutex sync.Mutex
	known map[string]string
}

// share replaces texts by equal ones that others hold already.
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
		w.known = map[string]string{} // Those in use will be met again.
	}
	text = strings.Clone(text) // It may be part of something large.
	w.known[text] = text
	return text
}

// shareJob is share for what jobs have in common. The job must be nobody else's yet.
func (w *interner) shareJob(j *Job) {
	w.share((*string)(&j.Kind), &j.Owner, &j.Repo, &j.Ref, &j.Base, &j.Sender, &j.Reason)
	j.Command = strings.Clone(j.Command) // The comment that it begins may be long.
}

// shareRecord is share for a subject's record.
func (w *interner) shareRecord(r *record) {
	w.shareJob(&r.Job)
	for i := range r.Replaced {
		w.shareJob(&r.Replaced[i].Job)
	}
	if r.Holder != nil {
		w.share(&r.Holder.Owner)
	}
}

// shareScan is share for a scan.
func (w *interner) shareScan(s *Scan) {
	w.share((*string)(&s.Kind), (*string)(&s.State), &s.Owner, &s.Repo, &s.Author, &s.Base, &s.Ref, &s.BaseRef,
		&s.Stage, &s.Conclusion, &s.Reason)
	if s.Judged == s.Head {
		s.Judged = s.Head
	}
}
