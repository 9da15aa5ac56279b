package github

import (
	"strconv"
	"strings"
)

// none stands for no digest.
const none = "none"

// phase is how far a check run of preadmit is.
type phase string

const (
	phaseStarted phase = "started"
	phasePartial phase = "partial" // some annotations are there
	phaseDone    phase = "done"
)

// mark is what a check run's external_id says: that it is preadmit's, and what was
// published, so that it is not published twice.
type mark struct {
	phase phase
	// content is the digest of the check, sarif that of the file uploaded with it.
	content, sarif string
	// pull is the pull request that it is about, 0 when it is about a commit only: others
	// may have the same head. unknownPull is of a mark that does not say it.
	pull int
}

const unknownPull = -1

// markPrefix begins an external_id, with the version of what follows.
const markPrefix = "preadmit/1"

func (m mark) String() string {
	parts := []string{markPrefix, string(m.phase), m.content, m.sarif}
	if m.pull != unknownPull {
		parts = append(parts, strconv.Itoa(m.pull))
	}
	return strings.Join(parts, "/")
}

// readMark reads an external_id; ok is false for one of somebody else.
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

// commentMarker is the first line of preadmit's comment, which nobody sees. Different
// names of a check have different comments.
func commentMarker(name string) string {
	return "<!-- preadmit:comment " + digest([]byte(name))[:16] + " -->"
}

// replyMarker is the first line of an answer to what key names.
func replyMarker(name, key string) string {
	return "<!-- preadmit:reply " + digest([]byte(name + "\n" + key))[:16] + " -->"
}
