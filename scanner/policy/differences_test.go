package policy_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/suite"
)

var update = flag.Bool("update", false, "write the answers in testdata/differences")

// TestDifferences runs the differences that FuzzUpstreamAgrees once found: upstream still agrees, and
// the answers are those in want.txt.
func TestDifferences(t *testing.T) {
	files, err := filepath.Glob("testdata/differences/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { testDifference(t, file) })
	}
}

func testDifference(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range archive.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	s, err := suite.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range newComparison().scene(t, sceneOf(s)) {
		t.Errorf("%s (-upstream +ours):\n%s", describe(d.client), d.text)
	}
	stage := newComparison().stage(t, sceneOf(s))
	got := ""
	for i := range s.Requests {
		in := s.Requests[i].ClientRequest()
		cluster, engine, _ := stage.judges(t, in)
		if ours := mutation.New(cluster, stage.set, stage.mutations); ours != nil {
			in.Mutator = ours
		}
		req, _, err := cluster.Prepare(context.Background(), in)
		if err != nil {
			got += fmt.Sprintf("%s: refused: %v\n", s.Requests[i].Name, err)
			continue
		}
		outcome := engine.Evaluate(context.Background(), req)
		v := outcome.Verdict(req, nil)
		got += fmt.Sprintf("%s: %d %s: %s\n", s.Requests[i].Name, v.Code, v.Reason, v.Message)
	}
	want := files["want.txt"]
	if *update {
		archive.Files[len(archive.Files)-1].Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want.Data), got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}
