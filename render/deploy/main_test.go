package deploy_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/isolate"
	"github.com/preadmit/preadmit/render/sources"
)

// TestMain makes the test binary its own child process.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "render-child" {
		if err := sources.ChildMain(context.Background(), os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testall.Heap()
	os.Exit(m.Run())
}

func isolated(t *testing.T) render.Options {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return render.Options{Isolate: isolate.Program(program, "render-child")}
}
