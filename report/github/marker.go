package github

import (
	"strconv"
	"strings"
)

// none stands for a missing digest.
const none = "none"

// phase is the progress of a check run of preadmit.
type phase string

const (
	phaseStarted phase = "started"
	phasePartial phase = "partial" // some annotations are there
	phaseDone    phase = "done"
)

// mark is the content of a check run's external_id. It identifies the run as preadmit's and
// records what was published, so that it is not published twice.
type mark struct {
	phase phase
	// content is the digest of the check, sarif the digest of the file uploaded with it.
	content, sarif string
	// pull is the number of the pull request, 0 for a commit only, or unknownPull when the
	// mark does not have it. It is recorded because several may have the same head.
	pull int
}

const unknownPull = -1

// markPrefix is the start of an external_id, with the version of its format.
const markPrefix = "preadmit/1"

func (m mark) String() string {
	parts := []string{markPrefix, string(m.phase), m.content, m.sarif}
	if m.pull != unknownPull {
		parts = append(parts, strconv.Itoa(m.pull))
	}
	return strings.Join(parts, "/")
}

// readMark parses an external_id; ok is false if preadmit did not write it.
func readMark(id string) (m mark, ok bool) {
	rest, ok := strings.CutPrefix(id, markPrefix+"/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 3 || len(parts) > 4 {
		return mark{}, false
	}
	m = mark{phase(parts[0]), parts[1], parts[2], unknownPull}
	if len(parts) == 4 {
		pull, err := strconv.ParseUint(parts[3], 10, 31)
		if err != nil {
			return mark{}, false
		}
		m.pull = int(pull)
	}
	return m, true
}

// commentMarker returns the first line of preadmit's comment, which GitHub does not show.
// Each check name has its own comment.
func commentMarker(name string) string {
	return "<!-- preadmit:comment " + digest([]byte(name))[:16] + " -->"
}

// replyMarker returns the first line of the reply to the comment that key identifies.
func replyMarker(name, key string) string {
	return "<!-- preadmit:reply " + digest([]byte(name + "\n" + key))[:16] + " -->"
}
