package gittree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bulky returns a repository with one commit of three files: two of 100,000 bytes that compress well and differ in a
// word, and one of 50,000 that does not compress. The pack has one of the two as a delta. It has five objects: a
// commit, a tree, and the files.
func bulky(t *testing.T) (root, hash string) {
	t.Helper()
	root = t.TempDir()
	dir := filepath.Join(root, "repo")
	runGit(t, ".", "init", "-q", "-b", "main", dir)
	noise := make([]byte, 0, 50_000)
	random := rand.New(rand.NewPCG(1, 2))
	for len(noise) < cap(noise) {
		noise = append(noise, byte('!'+random.IntN(94)))
	}
	many := strings.Repeat("0123456789", 10_000)
	write(t, dir, map[string]string{"a": many, "b": many[:99_990] + "the others", "noise": string(noise)})
	runGit(t, dir, "add", "-A")
	runGit(t, dir, "commit", "-q", "-m", "Bulk")
	runGit(t, dir, "repack", "-q", "-a", "-d", "-f")
	return root, runGit(t, dir, "rev-parse", "HEAD")
}

func TestFetchLimits(t *testing.T) {
	root, hash := bulky(t)
	server := serveGit(t, root, "")
	for _, test := range []struct {
		limits Limits
		limit  Limit // "" when all fits
	}{
		{Limits{}, ""},
		{Limits{Bytes: 1 << 20, Objects: 5, Object: 100_000, Unpacked: 251_000}, ""},
		{Limits{Objects: 4}, LimitObjects},
		{Limits{Object: 99_999}, LimitObject},
		{Limits{Unpacked: 240_000}, LimitUnpacked},
		{Limits{Bytes: 40_000}, LimitBytes},
		{Limits{Bytes: 40_000, Objects: 5}, LimitBytes},
		{Limits{Bytes: 10}, LimitBytes}, // the list of references already exceeds it
	} {
		t.Run(fmt.Sprint(test.limits), func(t *testing.T) {
			dir := t.TempDir()
			r, err := Fetch(t.Context(), dir, Remote{URL: server.URL + "/repo", Limits: test.limits}, hash)
			if left, _ := filepath.Glob(filepath.Join(dir, "received-*")); len(left) > 0 {
				t.Errorf("%q is left", left)
			}
			if test.limit == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := content(t, r, hash, "b"); len(got) != 100_000 || !strings.HasSuffix(got, "the others") {
					t.Errorf("b has %d bytes", len(got))
				}
				return
			}
			var over *LimitError
			if !errors.As(err, &over) || over.Limit != test.limit || over.Max == 0 {
				t.Errorf("error %v, want one of the limit %s", err, test.limit)
			}
		})
	}
}

// TestFetchLimitOfDeltas checks that a delta of a few bytes counts with the size of its result.
func TestFetchLimitOfDeltas(t *testing.T) {
	root, hash := bulky(t)
	dir := filepath.Join(root, "repo")
	runGit(t, dir, "-c", "pack.depth=50", "repack", "-q", "-a", "-d", "-f")
	if out := runGit(t, dir, "verify-pack", "-v", packOf(t, dir)); !strings.Contains(out, "chain length = 1: 1 object") {
		t.Fatalf("no delta in the pack, so that nothing is tested:\n%s", out)
	}
	_, err := Fetch(t.Context(), t.TempDir(), Remote{URL: serveGit(t, root, "").URL + "/repo", Limits: Limits{Unpacked: 160_000}}, hash)
	var over *LimitError
	if !errors.As(err, &over) || over.Limit != LimitUnpacked {
		t.Errorf("error %v: a delta of 100,000 bytes was not counted as such", err)
	}
}

func packOf(t *testing.T, dir string) string {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	return packs[0]
}

// TestFetchLimitOfTime checks that the error of a fetch is the cause of the canceled context, even while it waits to
// repeat a request.
func TestFetchLimitOfTime(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, &LimitError{Limit: LimitTime, Max: 7})
	defer cancel()
	root, hash := bulky(t)
	remote := Remote{
		URL: serveGit(t, root, "").URL + "/repo", pause: time.Hour,
		Transport: &flaky{failures: 3, asked: map[string]int{}},
	}
	_, err := Fetch(ctx, t.TempDir(), remote, hash)
	var over *LimitError
	if !errors.As(err, &over) || over.Limit != LimitTime || !strings.Contains(err.Error(), "longer than 7 seconds") {
		t.Errorf("error %v", err)
	}
}
