package scan

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/preadmit/preadmit/render/origin"
	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner/admission/decoded"
	"github.com/preadmit/preadmit/scanner/policy/settled"
)

// shared are the results that processes of several releases share: origins of objects, decoded objects, and
// evaluations of policies without findings. All are nil for a single process.
type shared struct {
	answers *origin.Answers
	decoded *decoded.Objects
	settled *settled.Evaluations
}

// openShared opens the results in a directory; it may be empty.
func openShared(dir string) shared {
	if dir == "" {
		return shared{}
	}
	return shared{
		answers: origin.OpenAnswers(filepath.Join(dir, "answers")),
		decoded: decoded.Open(filepath.Join(dir, "decoded")),
		settled: settled.Open(filepath.Join(dir, "settled")),
	}
}

// save saves the results for the next process. It prints an error as a warning, since it costs time but changes no
// verdict.
func (s shared) save(stderr io.Writer) {
	for _, results := range []interface{ Save() error }{s.answers, s.decoded, s.settled} {
		if err := results.Save(); err != nil {
			_, _ = fmt.Fprintf(stderr, "preadmit: warning: %s\n", escape.Line(err.Error()))
		}
	}
}
