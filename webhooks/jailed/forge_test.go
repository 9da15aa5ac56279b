package jailed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/jail"
)

// forge is the program of a child that a repository has taken over.
func forge(name string) error {
	results, err := jail.Enter()
	if err != nil {
		return err
	}
	var j Job
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		return err
	}
	return forgeries()[name].say(&j, results)
}

// forgery is the output of a child that was taken over, and the expected result.
type forgery struct {
	say  func(j *Job, to io.Writer) error
	want func(*Outcome, error) bool
}

// print returns a function that writes text, with $HEAD, $BASE and $EMPTY (an empty report) replaced.
func print(text string) func(*Job, io.Writer) error {
	return func(j *Job, to io.Writer) error {
		_, err := io.WriteString(to, strings.NewReplacer("$EMPTY", emptyReport(j)).Replace(text))
		return err
	}
}

func emptyReport(j *Job) string {
	return fmt.Sprintf(`{"apiVersion":"preadmit.dev/v1alpha1","kind":"ScanReport","tool":{"name":"preadmit","version":"","kubernetes":""},`+
		`"change":{"base":{"name":%[2]q,"commit":%[2]q},"head":{"name":%[1]q,"commit":%[1]q}},"findings":[],"indeterminate":[],"diagnostics":[],`+
		`"summary":{"requests":0,"evaluations":0,"findings":{},"roots":{"rendered":0,"failed":0,"failedBefore":0,"indeterminate":0,"lost":0,"untouched":0},`+
		`"policies":0,"durations":{"discover":0,"render":0,"judge":0,"locate":0,"total":0}}}`, j.Request.Head, j.Request.Base)
}

// answered sends an empty report with a replacement.
func answered(old, with string) func(*Job, io.Writer) error {
	return func(j *Job, to io.Writer) error {
		document := emptyReport(j)
		if !strings.Contains(document, old) {
			return errors.New("nothing to replace")
		}
		document = strings.Replace(document, old, with, 1)
		_, err := fmt.Fprintf(to, "{\"answer\":{\"bytes\":%d}}\n%s", len(document), document)
		return err
	}
}

func forgeries() map[string]forgery {
	forged := func(o *Outcome, err error) bool { return o == nil && errors.Is(err, ErrForged) }
	died := func(why string) func(*Outcome, error) bool {
		return func(o *Outcome, err error) bool {
			death := new(DeathError)
			return o == nil && errors.As(err, &death) && strings.Contains(death.Why, why)
		}
	}
	begin := `{"begin":{"id":1,"root":"YXBw"}}` + "\n" // app
	return map[string]forgery{
		"nothing wrong":                 {answered(`"requests":0`, `"requests":1`), func(o *Outcome, err error) bool { return err == nil && o.Report.Summary.Requests == 1 }},
		"nothing":                       {print(""), died("no report")},
		"no JSON":                       {print("hello\n"), forged},
		"unknown message":               {print(`{"hello":{}}` + "\n"), forged},
		"unknown field":                 {print(`{"stage":{"name":"render","done":0,"total":0,"x":1}}` + "\n"), forged},
		"empty message":                 {print("{}\n"), forged},
		"escapes in a stage":            {print(`{"stage":{"name":"\u001b[2J","done":0,"total":0}}` + "\n"), forged},
		"command in a stage":            {print(`{"stage":{"name":"::error::","done":0,"total":0}}` + "\n"), forged},
		"negative progress":             {print(`{"stage":{"name":"render","done":-1,"total":0}}` + "\n"), forged},
		"endless line":                  {endless("x"), died("more than it may")},
		"endless messages":              {endless(`{"stage":{"name":"render","done":0,"total":0}}` + "\n"), died("more than it may")},
		"endless roots":                 {countRoots, forged},
		"endless errors":                {func(*Job, io.Writer) error { return endless("::error::x\n")(nil, os.Stderr) }, died("printed more")},
		"too large a report":            {print(`{"answer":{"bytes":1000000000}}` + "\n"), died("more than it may")},
		"lacks, and nothing is fetched": {print(`{"lacks":{"artifacts":[{"artifact":{"Kind":"file","URL":"https://example.com/a","Name":"","Version":""}}]}}` + "\n"), forged},
		"lacks nothing":                 {print(`{"lacks":{"artifacts":[]}}` + "\n"), forged},
		"lacks what is none":            {print(`{"lacks":{"artifacts":[{"artifact":{"Kind":"file","URL":"file:///etc/passwd","Name":"","Version":""}}]}}` + "\n"), forged},
		"negative report":               {print(`{"answer":{"bytes":-1}}` + "\n"), forged},
		"short report":                  {print(`{"answer":{"bytes":100}}` + "\n{}"), died("no report")},
		"more after it":                 {print(`{"answer":{"bytes":2}}` + "\n{}more"), forged},
		"no report":                     {print(`{"answer":{"bytes":2}}` + "\n{}"), forged},
		"bomb of objects":               {objects, died("more than it may")},
		"unknown in report":             {answered(`"findings":[]`, `"findings":[],"x":1`), forged},
		"bad UTF-8":                     {answered(`"diagnostics":[]`, "\"diagnostics\":[{\"severity\":\"note\",\"message\":\"\xff\"}]"), forged},
		"another head":                  {answered(`"head":{"name":"`, `"head":{"name":"other`), forged},
		"without base":                  {answered(`"base":{`, `"bass":{`), forged},
		"another version":               {answered(`"version":""`, `"version":"9"`), forged},
		"negative counts":               {answered(`"failed":0`, `"failed":-1`), forged},
		"bad severity":                  {answered(`"diagnostics":[]`, `"diagnostics":[{"severity":"x","message":"x"}]`), forged},
		"bad failOn":                    {func(j *Job, to io.Writer) error { return sendWith(to, emptyReport(j), "nothing") }, forged},
		"mistake":                       {print(`{"mistake":{"message":"a\u001b[2Jb\n::error::c"}}` + "\n"), isMistake},
		"failure": {print(`{"failure":{"message":"a\u001b[2Jb"}}` + "\n"), func(o *Outcome, err error) bool {
			return o == nil && err != nil && !strings.Contains(err.Error(), "\x1b")
		}},
		"a root that passes": {func(j *Job, to io.Writer) error { return passing(j, to, begin) }, forged},
		"a silent death":     {print(begin), died("")},
	}
}

func isMistake(o *Outcome, err error) bool {
	mistake := new(InputError)
	return o == nil && errors.As(err, &mistake) && !strings.Contains(mistake.Message, "\x1b") && !strings.Contains(mistake.Message, "\n::")
}

func endless(text string) func(*Job, io.Writer) error {
	return func(_ *Job, to io.Writer) error {
		for {
			if _, err := io.WriteString(to, strings.Repeat(text, 10_000)); err != nil {
				return err
			}
		}
	}
}

func countRoots(_ *Job, to io.Writer) error {
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(to, "{\"begin\":{\"id\":%d,\"root\":\"YXBw\"}}\n", i); err != nil {
			return err
		}
	}
}

func sendWith(to io.Writer, document, failOn string) error {
	_, err := fmt.Fprintf(to, "{\"answer\":{\"bytes\":%d,\"failOn\":%q}}\n%s", len(document), failOn, document)
	return err
}

// objects writes a report that needs much more memory than its size.
func objects(j *Job, to io.Writer) error {
	bomb := strings.TrimSuffix(strings.Repeat("{},", maxObjects+1), ",")
	return answered(`"findings":[]`, `"findings":[`+bomb+`]`)(j, to)
}

// passing dies once while a root is rendered, and then writes a report in which it is not missing.
func passing(j *Job, to io.Writer, begin string) error {
	if len(j.Refused) == 0 {
		return print(begin)(j, to)
	}
	return answered(`"requests":0`, `"requests":1`)(j, to)
}

// TestForged checks that the parent accepts only a report for its own request, whatever a child writes,
// and comes to no harm.
func TestForged(t *testing.T) {
	for name, f := range forgeries() {
		t.Run(name, func(t *testing.T) {
			s := testScanner(t, Limits{Memory: 1 << 30, Wall: 20 * time.Second, Output: 8 << 20})
			s.Args = []string{"forge", name}
			start := time.Now()
			outcome, err := s.Scan(context.Background(), Request{
				Repository: t.TempDir(), Head: strings.Repeat("a", 40), Base: strings.Repeat("b", 40),
			}, nil)
			if !f.want(outcome, err) {
				t.Errorf("outcome %+v, error %v", outcome, err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
