package jailed

import (
	"encoding/json"
	"fmt"
)

// The parent sends a job. The child sends messages, each a line of JSON, and ends with
// an answer, which the report follows. The parent believes nothing of it: a repository
// may have taken the child over.

// job is what the parent sends.
type job struct {
	Request Request   `json:"request"`
	Workers int       `json:"workers"`
	Refused []refusal `json:"refused,omitempty"`
}

// refusal is a root that is not to be rendered. Paths in git are bytes, not text.
type refusal struct {
	Root []byte `json:"root"`
	Why  string `json:"why"`
}

// message is a line from the child. One field is set.
type message struct {
	Stage   *stageMessage  `json:"stage,omitempty"`
	Begin   *beginMessage  `json:"begin,omitempty"`
	End     *endMessage    `json:"end,omitempty"`
	Answer  *answerMessage `json:"answer,omitempty"`
	Mistake *errorMessage  `json:"mistake,omitempty"`
	Failure *errorMessage  `json:"failure,omitempty"`
}

// stageMessage is what scanner.Input.Progress is told.
type stageMessage struct {
	Name  string `json:"name"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// beginMessage tells that a root is at work, until an endMessage with its ID.
type beginMessage struct {
	ID   int    `json:"id"`
	Root []byte `json:"root"`
}

type endMessage struct {
	ID int `json:"id"`
}

// answerMessage is the last one. A report of that many bytes follows.
type answerMessage struct {
	Bytes  int    `json:"bytes"`
	FailOn string `json:"failOn,omitempty"`
}

// errorMessage is the last one of a scan without a report: for a mistake the repository
// is at fault.
type errorMessage struct {
	Message string `json:"message"`
}

const (
	// maxLine bounds a line of the child, in bytes.
	maxLine = 1 << 20
	// maxStage bounds the name of a stage.
	maxStage = 32
	// maxCount bounds what is counted in messages.
	maxCount = 1 << 30
	// maxWorking bounds how many roots a child says are at work.
	maxWorking = 1024
	// maxMistake bounds the text of an error, in bytes.
	maxMistake = 64 << 10
)

// check tells what of a message no scan would send.
func (m *message) check() error {
	switch {
	case m.Stage != nil:
		return m.Stage.check()
	case m.Begin != nil && len(m.Begin.Root) > 0, m.End != nil, m.Answer != nil && m.Answer.Bytes >= 0:
		return nil
	case m.Mistake != nil && len(m.Mistake.Message) <= maxMistake, m.Failure != nil && len(m.Failure.Message) <= maxMistake:
		return nil
	}
	return fmt.Errorf("%w: a message with nothing in it, or too much", ErrForged)
}

func (s *stageMessage) check() error {
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

// encode gives a message as a line.
func encode(m message) ([]byte, error) {
	line, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return append(line, '\n'), nil
}
