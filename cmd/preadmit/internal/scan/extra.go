package scan

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/internal/memfs"
	"github.com/preadmit/preadmit/render/tree/gittree"
	"github.com/preadmit/preadmit/scanner"
)

// OpenExtras opens the files and directories of --policies and --context; - is stdin.
func OpenExtras(ctx context.Context, stdin io.Reader, f *Flags) ([]scanner.Extra, error) {
	var extras []scanner.Extra
	fromStdin := ""
	for _, flag := range []struct {
		name  string
		paths []string
	}{{"--policies", f.Policies.Values}, {"--context", f.Context.Values}} {
		for _, path := range flag.paths {
			if strings.Contains(path, "://") {
				return nil, cli.Usagef("%s %s: a scan reads no URL: fetch it first, and give the file", flag.name, path)
			}
			if path == "-" {
				if fromStdin != "" {
					return nil, cli.Usagef("%s -: stdin is taken by %s already", flag.name, fromStdin)
				}
				fromStdin = flag.name
			}
			extra, err := OpenExtra(ctx, io.TeeReader(stdin, &f.stdin), path)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err != nil:
				return nil, cli.Usagef("%s: %w", flag.name, err)
			}
			extra.Policies = flag.name == "--policies"
			extras = append(extras, extra)
		}
	}
	return extras, nil
}

// OpenExtra opens a file or a directory, or reads stdin if path is -.
func OpenExtra(ctx context.Context, stdin io.Reader, path string) (scanner.Extra, error) {
	if path == "-" {
		data, err := readAll(ctx, stdin)
		if err != nil {
			return scanner.Extra{}, fmt.Errorf("read stdin: %w", err)
		}
		return scanner.Extra{Name: "stdin.yaml", FS: memfs.OneFile("stdin.yaml", data)}, nil
	}
	name := filepath.ToSlash(filepath.Clean(path))
	info, err := os.Stat(path)
	if err != nil {
		return scanner.Extra{}, err
	}
	if info.IsDir() {
		tree, err := gittree.Dir(path)
		return scanner.Extra{Name: name, FS: tree}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return scanner.Extra{}, err
	}
	return scanner.Extra{Name: name, FS: memfs.OneFile(filepath.Base(path), data)}, nil
}

// readAll reads a stream to its end, or until ctx is done: the stream may be a terminal
// without input.
func readAll(ctx context.Context, r io.Reader) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(r)
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.data, r.err
	}
}
