package jailed

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/preadmit/preadmit/report"
)

// Request is a change to scan.
type Request struct {
	// Repository is the directory of a bare git repository that holds the commits. It is
	// only read.
	Repository string `json:"repository"`
	// BaseRepository is the directory of the repository that has Base; empty means Repository.
	BaseRepository string `json:"baseRepository,omitempty"`
	// Base and Head are the names of commits, 40 hex digits. Without Base every object
	// is judged as created.
	Base string `json:"base,omitempty"`
	Head string `json:"head"`
	// BaseName and HeadName are the names of the commits in the report; empty means
	// their object names.
	BaseName string `json:"baseName,omitempty"`
	HeadName string `json:"headName,omitempty"`
	// Remotes are URLs of the repository, by which it is recognized in sources of deployers.
	Remotes []string `json:"remotes,omitempty"`
	// Diff requests Changes in the report.
	Diff bool `json:"diff,omitempty"`
	// Version is the version of preadmit, for the report.
	Version string `json:"version,omitempty"`
	// Owner is the owner of the repository, whose credentials are used to fetch artifacts.
	Owner string `json:"-"`
}

// Limits limit the cost of one Scan. A zero field takes its default.
type Limits struct {
	// Memory is the maximum private memory of a scan's processes together, in bytes.
	// Default 2 GiB.
	Memory int64
	// Wall is the maximum duration of a Scan. Default 5 minutes.
	Wall time.Duration
	// Root is the maximum time for rendering or examining one root. A root that takes longer is
	// not judged. Default a quarter of Wall.
	Root time.Duration
	// CPU is the processor time one process may use, rounded up to seconds. Default Workers times Wall.
	CPU time.Duration
	// Output is the maximum output of the child, report included, in bytes. Default 64 MiB.
	Output int64
	// Workers is how many roots are rendered concurrently. Default: the number of
	// processors.
	Workers int
	// Retries is how often a scan is started again after a child died. Default 8; a
	// negative number means never.
	Retries int
}

// Scanner scans in child processes. It is safe for concurrent use.
type Scanner struct {
	// Program is preadmit's own executable, and Args the hidden command that calls child.Main.
	Program string
	Args    []string
	Limits  Limits
	// Fetcher fetches artifacts; nil means that none are fetched.
	Fetcher Fetcher
	// BestEffort allows scans if the system supports only parts of the jail, or nothing of it.
	// Each of these scans logs a warning. Otherwise such a scan is an error.
	BestEffort bool
	// Log receives messages about children, with their output; nil discards them.
	Log *slog.Logger

	// reading is held while a report is decoded, which may need memory of hundreds of times its size.
	reading sync.Mutex
}

// Progress receives the progress of a scan: a stage, and how much of it is done. It is called from
// one goroutine at a time, a few times a second at most. The scan continues during a call, so a
// slow Progress misses some reports. Scan waits for the last call.
type Progress func(stage string, done, total int)

// Outcome is the result of a scan.
type Outcome struct {
	Report *report.Report
	// FailOn is the value of the configuration of the base, one of report.FailOnValues;
	// empty means deny.
	FailOn string
	// Died are the children that died before they reported, in order. Their roots are
	// indeterminate in the report, so that it never passes.
	Died []Death
}

// Death describes a child that died, or was killed for exceeding a limit.
type Death struct {
	// Root is the path of the root that was being rendered; empty when it is not known,
	// because there were several.
	Root string
	// Why is one line for people, without control characters.
	Why string
	// Limit is set when a limit ended the child.
	Limit bool
}

// DeathError is the error of a scan that was given up because its children died.
type DeathError struct {
	// Stage is the stage at that time, as for Progress; empty if none had begun.
	Stage string
	Death
	// Tries is how often the scan was started.
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

// InputError is a mistake in the repository because of which it cannot be scanned: an invalid
// configuration, or globs that match no root. Message may have several lines and quotes the
// repository.
type InputError struct{ Message string }

func (e *InputError) Error() string { return e.Message }

// forgedError is ErrForged with a description that is safe to show.
type forgedError struct{ text string }

func (e *forgedError) Error() string { return "scan in a jail: " + e.text }
func (e *forgedError) Unwrap() error { return ErrForged }

// ErrForged is wrapped by errors about a child whose output no scan would produce.
var ErrForged = errors.New("the output of the process is not that of a scan")
