package argocd

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/helm/values"
	"github.com/preadmit/preadmit/render/tree"
)

// given are the values that an Application sets for a chart.
type given struct {
	files    []values.File
	assigned []values.Assignment
	// fields are the fields of the Application that files come from, assignedFields those for assigned.
	fields, assignedFields []string
	// contents are the files of the tree whose whole contents are values, by field.
	contents map[string]string
}

// texts returns the texts of the values.
func (g *given) texts() (texts [][]byte) {
	for _, f := range g.files {
		texts = append(texts, f.Data)
	}
	for _, a := range g.assigned {
		texts = append(texts, []byte(a.Text), a.File)
	}
	return texts
}

// optionErrorf returns an error of an option of a source.
func optionErrorf(field, format string, args ...any) error {
	return &optionError{field, fmt.Sprintf(format, args...)}
}

// values returns the values, in the order in which Argo CD passes them to Helm.
func (h *helmPart) values(trace tree.Trace) (*given, error) {
	opts := h.options()
	g := &given{contents: map[string]string{}}
	if err := h.valueFiles(g, trace); err != nil {
		return nil, err
	}
	inline, field := []byte(opts.Values), "helm.values"
	if len(opts.ValuesObject) > 0 && string(opts.ValuesObject) != "null" {
		text, err := yaml.JSONToYAML(opts.ValuesObject)
		if err != nil {
			return nil, err
		}
		inline, field = text, "helm.valuesObject"
	}
	if len(inline) > 0 {
		g.files = append(g.files, values.File{Name: field, Data: inline})
		g.fields = append(g.fields, field)
	}
	last := map[string]int{}
	for i, p := range opts.Parameters {
		last[p.Name+fmt.Sprint(p.ForceString)] = i
	}
	for i, p := range opts.Parameters {
		if last[p.Name+fmt.Sprint(p.ForceString)] == i {
			g.assigned = append(g.assigned, values.Assignment{Text: p.Name + "=" + escapeCommas(h.env.expand(p.Value)), String: p.ForceString})
			g.assignedFields = append(g.assignedFields, fmt.Sprintf("helm.parameters[%d].value", i))
		}
	}
	for i, p := range opts.FileParameters {
		field := fmt.Sprintf("helm.fileParameters[%d].path", i)
		in, err := h.resolve(p.Path, field)
		if err != nil {
			return nil, err
		}
		data, err := h.readValues(in, field, trace)
		if err != nil {
			return nil, err
		}
		if in.url == "" && in.top != chartTop {
			g.contents[field] = in.name
		}
		g.assigned = append(g.assigned, values.Assignment{Text: p.Name + "=file", File: append([]byte{}, data...)})
		g.assignedFields = append(g.assignedFields, field)
	}
	return g, nil
}

// escapeCommas escapes commas in a value, unless it is a list in braces.
func escapeCommas(value string) string {
	if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return value
	}
	var out strings.Builder
	var before rune
	for _, r := range value {
		if r == ',' && before != '\\' {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
		before = r
	}
	return out.String()
}

// valueFile is a file of values, in the tree or at a URL.
type valueFile struct {
	// name is the path in the tree, which may be a pattern. top is the directory that must contain it.
	name, top string
	url       string
}

func (f valueFile) isPattern() bool { return f.url == "" && strings.ContainsAny(f.name, "*?[") }

// valueFiles adds the value files. A file that is listed by its own name has the position of that entry, even if a
// pattern matches it as well.
func (h *helmPart) valueFiles(g *given, trace tree.Trace) error {
	opts := h.options()
	explicit, seen := map[string]bool{}, map[string]bool{}
	for _, raw := range opts.ValueFiles {
		if f, err := h.resolve(raw, ""); err == nil && !f.isPattern() {
			explicit[f.name] = true
		}
	}
	for i, raw := range opts.ValueFiles {
		field := fmt.Sprintf("helm.valueFiles[%d]", i)
		f, err := h.resolve(raw, field)
		if err != nil {
			return err
		}
		names := []string{f.name}
		if f.isPattern() {
			if names, err = h.matching(f, trace); err != nil {
				return optionErrorf(field, "values file glob %q: %v", raw, err)
			}
			if len(names) == 0 && !opts.IgnoreMissingValueFiles {
				return optionErrorf(field, "values file glob %q matched no files", raw)
			}
			names = slices.DeleteFunc(names, func(name string) bool { return explicit[name] })
		}
		for _, name := range names {
			if seen[name+f.url] {
				continue
			}
			seen[name+f.url] = true
			data, err := h.readValues(valueFile{name: name, top: f.top, url: f.url}, field, trace)
			if errors.Is(err, fs.ErrNotExist) && opts.IgnoreMissingValueFiles {
				continue
			}
			if err != nil {
				return err
			}
			g.files = append(g.files, values.File{Name: name + f.url, Data: data})
			g.fields = append(g.fields, field)
		}
	}
	return nil
}

// resolve returns the location of a value file: relative to the chart, to the top of the repository, in another source
// of the Application, or at a URL.
func (h *helmPart) resolve(raw, field string) (valueFile, error) {
	base, top := h.dir, h.top
	name := h.env.expand(raw)
	if ref, rest, ok := strings.Cut(raw, "/"); strings.HasPrefix(raw, "$") {
		i := h.referenced(ref[1:])
		if i < 0 && len(h.app.Spec.Sources) > 0 {
			return valueFile{}, optionErrorf(field, "source referenced %q, which is not one of the available sources", ref)
		}
		if i >= 0 && ok {
			at, problem := h.topOf(i)
			if problem != "" {
				return valueFile{}, optionErrorf(field, "%s", problem)
			}
			base, top, name = at, at, "/"+h.env.expand(rest)
		}
	}
	if u, err := url.Parse(name); err == nil && u.Scheme != "" {
		if u.Scheme != "http" && u.Scheme != "https" {
			return valueFile{}, optionErrorf(field, "the URL scheme '%s' is not allowed", u.Scheme)
		}
		return valueFile{url: name}, nil
	}
	if h.from.IsChart() && top == h.top && !path.IsAbs(name) {
		return valueFile{name: path.Join(".", name), top: chartTop}, nil
	}
	at := path.Join(base, name)
	if path.IsAbs(name) {
		at = path.Join(top, name)
	}
	if top == "." && (at == ".." || strings.HasPrefix(at, "../")) || top != "." && !strings.HasPrefix(at, top+"/") {
		return valueFile{}, optionErrorf(field, "file '%s' resolved to outside repository root", raw)
	}
	return valueFile{name: at, top: top}, nil
}

// chartTop is the top of files in a chart archive.
const chartTop = "\x00chart"

// referenced returns the index of the source with a `ref`; -1 for none.
func (h *helmPart) referenced(ref string) int {
	return slices.IndexFunc(h.app.AllSources(), func(s Source) bool { return s.Ref == ref })
}

// topOf returns the top directory of another source in the tree.
func (h *helmPart) topOf(i int) (dir, problem string) {
	from := h.root.Unit.Application.Sources[i]
	if from.Artifact == nil {
		return ".", ""
	}
	at, ok, err := h.tree.Mount(from.Artifact.Requested())
	if !ok {
		err = tree.ErrNoArtifacts
	}
	if err != nil {
		return "", fmt.Sprintf("the source cannot be used: %v", err)
	}
	return at, ""
}

// matching returns the files that match a pattern, in lexical order.
func (h *helmPart) matching(f valueFile, trace tree.Trace) ([]string, error) {
	base, _ := doublestar.SplitPattern(f.name)
	if to := h.tree.Resolve(base); to.Err != nil {
		trace.AddMiss(base, to)
		return nil, nil
	} else {
		h.tree.AddListing(to.Real, trace)
	}
	names, err := doublestar.Glob(h.tree.Fsys, f.name, doublestar.WithNoFollow())
	slices.Sort(names)
	return names, err
}

// readValues reads a value file.
func (h *helmPart) readValues(f valueFile, field string, trace tree.Trace) ([]byte, error) {
	switch {
	case f.url != "":
		data, _, err := h.tree.Bytes(artifact.Artifact{Kind: render.ArtifactFile, URL: f.url})
		if err != nil {
			return nil, optionErrorf(field, "values file %s is not fetched: %v", f.url, err)
		}
		return data, nil
	case f.top == chartTop:
		return h.inArchive(f.name, field)
	}
	h.tree.TraceFile(f.name, trace)
	if to := h.tree.Resolve(f.name); to.Err != nil {
		return nil, &missingFile{optionError{field, fmt.Sprintf("open %s: no such file or directory", f.name)}}
	} else if to.IsDir {
		return nil, optionErrorf(field, "read %s: is a directory", f.name)
	}
	data, _, err := h.tree.Load(f.name, trace)
	return data, err
}

// inArchive reads a file of a chart archive.
func (h *helmPart) inArchive(name, field string) ([]byte, error) {
	c := h.charts.of(h)
	if c.err != nil {
		return nil, c.err
	}
	for _, f := range c.chart.Raw {
		if f.Name == name {
			return f.Data, nil
		}
	}
	return nil, &missingFile{optionError{field, fmt.Sprintf("open %s: no such file or directory in the chart", name)}}
}

// missingFile is the error of a value file that does not exist.
type missingFile struct{ optionError }

func (e *missingFile) Is(target error) bool { return target == fs.ErrNotExist }
func (e *missingFile) Unwrap() error        { return &e.optionError }
