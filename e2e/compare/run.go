package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// result is the result of a program: its streams, its exit code and the files that it
// wrote, by name, without durations and versions.
type result map[string]string

func (c testCase) commandLine() string { return "preadmit " + strings.Join(c.args, " ") }

// compare runs the case with both programs and returns the differences, "" when
// there are none.
func (c testCase) compare(ctx context.Context, o options) (string, error) {
	before, err := c.remembered(ctx, o)
	if err != nil {
		return "", err
	}
	after, err := c.run(ctx, o.new)
	if err != nil {
		return "", err
	}
	var differences []string
	for _, name := range c.parts() {
		if before[name] != after[name] {
			differences = append(differences, name+"\n"+firstDifference(before[name], after[name]))
		}
	}
	return strings.Join(differences, "\n"), nil
}

// parts returns the names of a result's entries.
func (c testCase) parts() []string {
	return append([]string{"exit code", "stdout", "stderr"}, c.outputs...)
}

// remembered returns the result of the old program, from the directory of results if it
// is stored there.
func (c testCase) remembered(ctx context.Context, o options) (result, error) {
	info, err := os.Stat(o.old)
	if err != nil {
		return nil, err
	}
	// The key has the name and not the directory, since clones are in a new one each time.
	key := sha256.Sum256(fmt.Appendf(nil, "%s %d %s %s", o.old, info.ModTime().UnixNano(), c.name, c.args))
	file := filepath.Join(o.results, fmt.Sprintf("%x.json", key))
	if data, err := os.ReadFile(file); err == nil {
		var known result
		return known, json.Unmarshal(data, &known)
	}
	got, err := c.run(ctx, o.old)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(got)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.results, 0o777); err != nil {
		return nil, err
	}
	return got, os.WriteFile(file, data, 0o666)
}

// run runs the case with one program.
func (c testCase) run(ctx context.Context, program string) (result, error) {
	temp, err := os.MkdirTemp("", "preadmit-compare-case-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	args := slices.Clone(c.args)
	for _, output := range c.outputs {
		format, file, _ := strings.Cut(output, "=")
		args = append(args, "-o", format+"="+filepath.Join(temp, file))
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	got := result{
		"exit code": fmt.Sprint(cmd.ProcessState.ExitCode()),
		"stdout":    normalize(stdout.Bytes()), "stderr": normalize(stderr.Bytes()),
	}
	for _, output := range c.outputs {
		_, file, _ := strings.Cut(output, "=")
		data, err := os.ReadFile(filepath.Join(temp, file))
		if err != nil {
			data = []byte(err.Error())
		}
		got[output] = normalize(bytes.ReplaceAll(data, []byte(temp), []byte("TEMP")))
	}
	return got, nil
}

var (
	durationFields = regexp.MustCompile(`"(discover|render|judge|locate|total|seconds)": [0-9.e+-]+`)
	durationWords  = regexp.MustCompile(`\b[0-9.]+ ?(ns|µs|ms|s|seconds)\b|time="[0-9.]+"`)
	versions       = regexp.MustCompile(`v0\.0\.0-[0-9]{14}-[0-9a-f]{12}(\+dirty)?|\(devel\)`)
)

// normalize replaces durations, versions and other text that differs between equal runs.
func normalize(data []byte) string {
	data = durationFields.ReplaceAll(data, []byte(`"$1": DURATION`))
	data = durationWords.ReplaceAll(data, []byte("DURATION"))
	return string(versions.ReplaceAll(data, []byte("VERSION")))
}

// firstDifference returns the first lines that differ.
func firstDifference(before, after string) string {
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	i := 0
	for i < len(old) && i < len(now) && old[i] == now[i] {
		i++
	}
	return fmt.Sprintf("  line %d\n  - %s\n  + %s", i+1, at(old, i), at(now, i))
}

func at(lines []string, i int) string {
	const width = 300
	if i >= len(lines) {
		return "(end)"
	}
	if len(lines[i]) > width {
		return lines[i][:width] + "..."
	}
	return lines[i]
}
