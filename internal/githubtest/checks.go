package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"
)

// CheckRun is a check run of the server.
type CheckRun struct {
	ID                                     int64
	App                                    string // slug
	Repo                                   string // "OWNER/NAME"; the first repository when empty
	Name, HeadSHA, Status, Conclusion      string
	ExternalID, DetailsURL, Title, Summary string
	Text                                   string
	Annotations                            []Annotation
	Actions                                []Action
}

// Action is a button of a check run.
type Action struct{ Label, Description, Identifier string }

// Annotation is an annotation of a check run, as it was sent.
type Annotation struct {
	Path        string `json:"path"`
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn *int   `json:"start_column"`
	EndColumn   *int   `json:"end_column"`
	Level       string `json:"annotation_level"`
	Title       string `json:"title"`
	Message     string `json:"message"`
	RawDetails  string `json:"raw_details"`
}

// runInput is the body of both writing requests. Absent fields stay unchanged.
type runInput struct {
	Name       *string `json:"name"`
	HeadSHA    string  `json:"head_sha"`
	Status     *string `json:"status"`
	Conclusion *string `json:"conclusion"`
	ExternalID *string `json:"external_id"`
	DetailsURL *string `json:"details_url"`
	Output     *struct {
		Title, Summary, Text *string
		Annotations          []Annotation
	} `json:"output"`
	Actions []Action `json:"actions"`
}

// CheckRuns returns copies of all check runs, in the order of creation.
func (s *Server) CheckRuns() []CheckRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []CheckRun
	for _, run := range s.runs {
		c := *run
		c.Annotations, c.Actions = slices.Clone(run.Annotations), slices.Clone(run.Actions)
		out = append(out, c)
	}
	return out
}

// AddCheckRun adds a check run of any app, and returns its ID.
func (s *Server) AddCheckRun(run CheckRun) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	run.ID = s.nextID()
	run.Repo = cmp.Or(run.Repo, s.first.full())
	s.runs = append(s.runs, &run)
	return run.ID
}

func (s *Server) nextID() int64 {
	s.lastID++
	return s.lastID
}

func (s *Server) createRun(q *query) answer {
	var in runInput
	if err := json.Unmarshal(q.body, &in); err != nil {
		return message(http.StatusBadRequest, "Problems parsing JSON")
	}
	if a, ok := mayCheck(q); !ok {
		return a
	}
	if q.repo.dir != "" && s.find(q.repo, in.HeadSHA) == "" {
		return message(http.StatusUnprocessableEntity, "No commit found for SHA: "+in.HeadSHA)
	}
	run := &CheckRun{App: q.who.slug(), Repo: q.repo.full(), HeadSHA: in.HeadSHA, Status: "queued"}
	if complaint := run.update(&in); complaint != "" {
		return message(http.StatusUnprocessableEntity, complaint)
	}
	run.ID = s.nextID()
	s.runs = append(s.runs, run)
	s.sendRun(q.repo, run, "created", run.App+"[bot]", nil)
	return answer{status: http.StatusCreated, body: s.runBody(q.repo, run)}
}

// mayCheck rejects the tokens of users: only apps write check runs.
func mayCheck(q *query) (answer, bool) {
	if q.who.bot() {
		return answer{}, true
	}
	return message(http.StatusForbidden, "You must authenticate via a GitHub App."), false
}

// run returns the check run of a request's path.
func (s *Server) run(q *query) (*CheckRun, answer) {
	for _, run := range s.runs {
		if run.ID == q.number("check_run_id") && run.Repo == q.repo.full() {
			return run, answer{}
		}
	}
	return nil, notFound()
}

func (s *Server) getRun(q *query) answer {
	run, a := s.run(q)
	if run == nil {
		return a
	}
	return ok(s.runBody(q.repo, run))
}

func (s *Server) updateRun(q *query) answer {
	run, a := s.run(q)
	if run == nil {
		return a
	}
	if run.App != q.who.slug() {
		return message(http.StatusForbidden, "Invalid app_id `1` - check run can only be modified by the GitHub App that created it.")
	}
	var in runInput
	if err := json.Unmarshal(q.body, &in); err != nil {
		return message(http.StatusBadRequest, "Problems parsing JSON")
	}
	before := run.Status
	if complaint := run.update(&in); complaint != "" {
		return message(http.StatusUnprocessableEntity, complaint)
	}
	if before != "completed" && run.Status == "completed" {
		s.sendRun(q.repo, run, "completed", run.App+"[bot]", nil)
	}
	return ok(s.runBody(q.repo, run))
}

// update changes a run as GitHub does: annotations are appended, a conclusion completes it. If
// GitHub would reject the input, it returns why and changes nothing.
func (run *CheckRun) update(in *runInput) (complaint string) {
	if complaint := in.complaint(); complaint != "" {
		return complaint
	}
	set := func(to *string, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&run.Name, in.Name)
	set(&run.Status, in.Status)
	set(&run.ExternalID, in.ExternalID)
	set(&run.DetailsURL, in.DetailsURL)
	if in.Actions != nil {
		run.Actions = in.Actions
	}
	if in.Conclusion != nil {
		run.Status, run.Conclusion = "completed", *in.Conclusion
	}
	if run.Status != "completed" {
		run.Conclusion = ""
	}
	if in.Output != nil {
		set(&run.Title, in.Output.Title)
		set(&run.Summary, in.Output.Summary)
		set(&run.Text, in.Output.Text)
		run.Annotations = append(run.Annotations, in.Output.Annotations...)
	}
	return ""
}

// complaint checks rules that the OpenAPI description states only in prose.
func (in *runInput) complaint() string {
	if in.Status != nil && *in.Status == "completed" && in.Conclusion == nil {
		return "Missing conclusion."
	}
	if in.Output == nil {
		return ""
	}
	for name, text := range map[string]*string{"summary": in.Output.Summary, "text": in.Output.Text} {
		if text != nil && len(*text) > 65535 {
			return fmt.Sprintf("Invalid request.\n\n%s exceeds a maximum bytesize of 65535", name)
		}
	}
	if in.Output.Title == nil || in.Output.Summary == nil {
		return "Invalid request.\n\n\"title\", \"summary\" weren't supplied."
	}
	for _, a := range in.Output.Annotations {
		switch {
		case len(a.Message) > 64<<10 || len(a.RawDetails) > 64<<10:
			return "Invalid request.\n\nAn annotation has more than 64 KB."
		case a.Message == "" || a.Path == "":
			return "Invalid request.\n\nAn annotation lacks its path or message."
		case utf8.RuneCountInString(a.Title) > 255:
			return "Invalid request.\n\nThe title of an annotation has more than 255 characters."
		case a.StartLine < 1 || a.EndLine < a.StartLine:
			return "Invalid request.\n\nThe lines of an annotation are no range."
		case a.StartLine != a.EndLine && (a.StartColumn != nil || a.EndColumn != nil):
			return "Invalid request.\n\nAnnotations only support start_column and end_column on the same line."
		case a.StartColumn != nil && (*a.StartColumn < 1 || a.EndColumn != nil && *a.EndColumn < *a.StartColumn):
			return "Invalid request.\n\nThe columns of an annotation are no range."
		}
	}
	return ""
}

func (s *Server) listRuns(q *query) answer {
	sha := q.params["ref"]
	if q.repo.dir != "" {
		if sha = s.find(q.repo, sha); sha == "" {
			return message(http.StatusUnprocessableEntity, "No commit found for SHA: "+q.params["ref"])
		}
	}
	list := []any{}
	query := q.r.URL.Query()
	seen := map[string]bool{}
	for _, run := range slices.Backward(s.runs) {
		key := run.App + "/" + run.Name
		switch {
		case run.Repo != q.repo.full() || run.HeadSHA != sha,
			query.Get("check_name") != "" && query.Get("check_name") != run.Name,
			query.Get("status") != "" && query.Get("status") != run.Status,
			query.Get("app_id") != "" && query.Get("app_id") != strconv.FormatInt(s.appID(run.App), 10),
			query.Get("filter") != "all" && seen[key]:
			continue
		}
		seen[key] = true
		list = append(list, s.runBody(q.repo, run))
	}
	if s.config.OldestFirst {
		slices.Reverse(list)
	}
	return listed(s, q.r, "check_runs", list)
}

func (s *Server) annotations(q *query) answer {
	run, a := s.run(q)
	if run == nil {
		return a
	}
	list := []any{}
	for _, a := range run.Annotations {
		list = append(list, map[string]any{
			"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "start_column": a.StartColumn,
			"end_column": a.EndColumn, "annotation_level": a.Level, "title": a.Title, "message": a.Message,
			"raw_details": a.RawDetails, "blob_href": s.URL + "blob",
		})
	}
	return listed(s, q.r, "", list)
}
