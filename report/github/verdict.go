package github

import (
	"fmt"
	"slices"
	"strings"
)

// Verdict is the verdict on one of several pull requests with the same head. A check run
// belongs to a commit, and so to all of them.
type Verdict struct {
	// Pull is the number of the pull request; 0 means a merge group, which is one commit too.
	Pull       int
	Conclusion Conclusion
	// Title is one line of plain text.
	Title string
}

// String returns the title with the pull request it belongs to.
func (v Verdict) String() string { return v.name() + ": " + v.Title }

func (v Verdict) name() string {
	if v.Pull == 0 {
		return "the merge queue"
	}
	return fmt.Sprintf("#%d", v.Pull)
}

// Beside returns a check that covers one pull request and others with the same head: its
// conclusion is the worst of all, and its title names the pull request with that one.
// Without others, Beside returns c unchanged.
func (c Check) Beside(pull int, others []Verdict) Check {
	if len(others) == 0 {
		return c
	}
	own := Verdict{Pull: pull, Conclusion: c.Conclusion, Title: c.Title}
	all := append([]Verdict{own}, others...)
	var b strings.Builder
	b.WriteString("A check run belongs to a commit, and this one is the head of several. It concludes with the worst of\n\n")
	for _, v := range all {
		fmt.Fprintf(&b, "- %s: %s, %s\n", v.name(), v.Conclusion, v.Title)
	}
	fmt.Fprintf(&b, "\nWhat follows is about %s.\n\n", own.name())
	worst := all[0]
	for _, v := range others {
		if Worst(worst.Conclusion, v.Conclusion) != worst.Conclusion {
			worst = v
		}
	}
	c.Conclusion, c.Title, c.Summary = worst.Conclusion, worst.String(), b.String()+c.Summary
	return c
}

// Worst returns the worst conclusion: success is the best, then neutral, then action_required,
// then all others, which are equal. Of equal conclusions it returns the first. All but success
// and neutral block a merge.
func Worst(all ...Conclusion) Conclusion {
	return slices.MaxFunc(all, func(a, b Conclusion) int { return a.weight() - b.weight() })
}

func (c Conclusion) weight() int {
	switch c {
	case Success:
		return 0
	case Neutral:
		return 1
	case ActionRequired:
		return 2
	}
	return 3
}

// blocks reports whether a required check run with this conclusion blocks a merge.
func (c Conclusion) blocks() bool { return c.weight() > Neutral.weight() }
