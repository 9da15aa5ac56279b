package jailed

import (
	"encoding/json"
	"fmt"
)

// The parent sends a job. The child sends messages, each a line of JSON, and ends with an
// answer, after which the report follows. The parent trusts none of it: a repository may
// have taken the child over.

// Job is the input of a child.
type Job struct {
	Request Request   `json:"request"`
	Workers int       `json:"workers"`
	Refused []Refusal `json:"refused,omitempty"`
	// Artifacts is nil if no artifacts are fetched.
	Artifacts *Artifacts `json:"artifacts,omitempty"`
}

// Refusal is a root that must not be rendered. Paths in git are bytes, not text.
type Refusal struct {
	Root []byte `json:"root"`
	Why  string `json:"why"`
}

// Message is a line from the child. Exactly one field is set.
type Message struct {
	Stage   *StageMessage  `json:"stage,omitempty"`
	Begin   *BeginMessage  `json:"begin,omitempty"`
	End     *EndMessage    `json:"end,omitempty"`
	Answer  *AnswerMessage `json:"answer,omitempty"`
	Lacks   *LacksMessage  `json:"lacks,omitempty"`
	Mistake *ErrorMessage  `json:"mistake,omitempty"`
	Failure *ErrorMessage  `json:"failure,omitempty"`
}

// StageMessage has the arguments of scanner.Input.Progress.
type StageMessage struct {
	Name  string `json:"name"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// BeginMessage means that a root is being rendered, until an EndMessage with its ID.
type BeginMessage struct {
	ID   int    `json:"id"`
	Root []byte `json:"root"`
}

type EndMessage struct {
	ID int `json:"id"`
}

// AnswerMessage is the last message. A report of that many bytes follows.
type AnswerMessage struct {
	Bytes  int    `json:"bytes"`
	FailOn string `json:"failOn,omitempty"`
}

// ErrorMessage is the last message of a scan without a report: in Mistake if the cause is in the
// repository.
type ErrorMessage struct {
	Message string `json:"message"`
}

const (
	// maxLine limits a line of the child, in bytes.
	maxLine = 1 << 20
	// maxStage limits the name of a stage, in bytes.
	maxStage = 32
	// maxCount limits numbers in messages.
	maxCount = 1 << 30
	// maxWorking limits how many roots may be rendered at a time.
	maxWorking = 1024
	// maxMistake limits the text of an error, in bytes.
	maxMistake = 64 << 10
)

// check returns an error for a message that no scan would send.
func (m *Message) check() error {
	switch {
	case m.Stage != nil:
		return m.Stage.check()
	case m.Lacks != nil:
		return m.Lacks.check()
	case m.Begin != nil && len(m.Begin.Root) > 0, m.End != nil, m.Answer != nil && m.Answer.Bytes >= 0:
		return nil
	case m.Mistake != nil && len(m.Mistake.Message) <= maxMistake, m.Failure != nil && len(m.Failure.Message) <= maxMistake:
		return nil
	}
	return fmt.Errorf("%w: a message with nothing in it, or too much", ErrForged)
}

func (s *StageMessage) check() error {
	if s.Done < 0 || s.Total < 0 || s.Done > maxCount || s.Total > maxCount {
		return fmt.Errorf("%w: %d of %d done", ErrForged, s.Done, s.Total)
	}
	if s.Name == "" || len(s.Name) > maxStage {
		return fmt.Errorf("%w: a stage with a name of %d bytes", ErrForged, len(s.Name))
	}
	for _, c := range s.Name {
		if c != ' ' && (c < 'a' || c > 'z') {
			return fmt.Errorf("%w: a stage called %q", ErrForged, s.Name)
		}
	}
	return nil
}

// Encode returns the message as a line of JSON.
func (m Message) Encode() ([]byte, error) {
	line, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return append(line, '\n'), nil
}

// NewErrorMessage returns a message with the text, shortened to maxMistake.
func NewErrorMessage(text string) *ErrorMessage {
	return &ErrorMessage{Message: clip(text, maxMistake)}
}
