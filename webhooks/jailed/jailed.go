package jailed

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/preadmit/preadmit/report"
)

// Request is what is to be scanned.
type Request struct {
	// Repository is the directory of a bare git repository that holds the commits. It is
	// only read.
	Repository string `json:"repository"`
	// BaseRepository is the directory of the one that holds Base; empty means Repository.
	BaseRepository string `json:"baseRepository,omitempty"`
	// Base and Head are the names of commits, 40 hex digits. Without Base every object
	// is judged as created.
	Base string `json:"base,omitempty"`
	Head string `json:"head"`
	// BaseName and HeadName are what readers of the report know them by; empty means
	// the commits.
	BaseName string `json:"baseName,omitempty"`
	HeadName string `json:"headName,omitempty"`
	// Remotes are URLs of the repository, by which sources of deployers are known to be it.
	Remotes []string `json:"remotes,omitempty"`
	// Diff asks for the report's Changes.
	Diff bool `json:"diff,omitempty"`
	// Version is preadmit's own, for the report.
	Version string `json:"version,omitempty"`
	// Owner is the owner of the repository, whose credentials are used to fetch artifacts.
	Owner string `json:"-"`
}

// Limits bound what one Scan may cost. A zero field takes its default.
type Limits struct {
	// Memory is the most that the processes of a scan may have for themselves, in bytes.
	// Default 2 GiB.
	Memory int64
	// Wall is how long a Scan may take in all. Default 5 minutes.
	Wall time.Duration
	// Root is how long one root may be rendered or looked at. One that takes longer is
	// not judged. Default a quarter of Wall.
	Root time.Duration
	// CPU is the processor time one process may use, rounded up to seconds. Default Workers times Wall.
	CPU time.Duration
	// Output is the most the child may say, report included, in bytes. Default 64 MiB.
	Output int64
	// Workers is how many roots are rendered at the same time. Default: the number of
	// processors.
	Workers int
	// Retries is how often a scan is begun again after a child died. Default 8; less
	// than zero is never.
	Retries int
}

// Scanner scans in child processes. It is safe for concurrent use.
type Scanner struct {
	// Program is preadmit's own file, and Args the hidden command that calls ChildMain.
	Program string
	Args    []string
	Limits  Limits
	// Fetcher gets what scans lack; nil has nothing fetched.
	Fetcher Fetcher
	// BestEffort scans also where the system cannot build the jail, with what it can of
	// it. Each scan logs a warning then. Without it such a scan is an error.
	BestEffort bool
	// Log takes what children leave behind; nil discards it.
	Log *slog.Logger

	// reading is held while a report is decoded, which may take hundreds of times its bytes.
	reading sync.Mutex
}

// Progress receives what a scan is doing: a stage, and how much of it is done. It is
// called from one goroutine at a time, a few times a second at most. The scan goes on
// meanwhile, so that one that takes long misses some, and ends when it has returned.
type Progress func(stage string, done, total int)

// Outcome is a scan that came to an end.
type Outcome struct {
	Report *report.Report
	// FailOn is that of the configuration of the base, one of report.FailOnValues;
	// empty means deny.
	FailOn string
	// Died are the children that did not live to report, in order. Their roots are
	// indeterminate in the report, which never passes because of them.
	Died []Death
}

// Death is a child that died, or was ended for going over a limit.
type Death struct {
	// Root is the path of the root that was at work; empty when it was not known yet,
	// because there were several.
	Root string
	// Why is one line for people, without control characters.
	Why string
	// Limit is true when a limit ended it.
	Limit bool
}

// DeathError is a scan that was given up because its children died.
type DeathError struct {
	// Stage is what was being done, as Progress has it; empty when nothing was yet.
	Stage string
	Death
	// Tries is how often the scan was begun.
	Tries int
}

func (e *DeathError) Error() string {
	where := "before it began"
	if e.Stage != "" {
		where = "at the stage " + e.Stage
	}
	if e.Root != "" {
		where += fmt.Sprintf(", with the root %q", e.Root)
	}
	return fmt.Sprintf("scan in a jail: the process %s %s, after %d tries", e.Why, where, e.Tries)
}

// InputError is a mistake in the repository that keeps it from being scanned at all: a
// configuration that cannot be understood, globs that match no root. Message may have
// several lines and quotes the repository.
type InputError struct{ Message string }

func (e *InputError) Error() string { return e.Message }

// forgedError is ErrForged with what was said, safe to show.
type forgedError struct{ text string }

func (e *forgedError) Error() string { return "scan in a jail: " + e.text }
func (e *forgedError) Unwrap() error { return ErrForged }

// ErrForged is in errors about a child that says what a scan would not.
var ErrForged = errors.New("the process says what no scan does")
