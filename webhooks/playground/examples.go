package playground

import (
	"archive/zip"
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/preadmit/preadmit/report"
)

//go:embed examples/*.txtar
var exampleFiles embed.FS

// Example is an example request.
type Example struct {
	// Name is its name in URLs; Title and About are for people.
	Name, Title, About string
	Request            report.PlaygroundRequest
}

// Examples returns all examples, in their order.
func Examples() []Example { return examples() }

var examples = sync.OnceValue(func() []Example {
	names, err := fs.Glob(exampleFiles, "examples/*.txtar")
	if err != nil || len(names) == 0 {
		panic("the examples of the playground are missing")
	}
	slices.Sort(names)
	var all []Example
	for _, name := range names {
		data, err := exampleFiles.ReadFile(name)
		if err != nil {
			panic(err) // Glob found it
		}
		all = append(all, exampleOf(name, data))
	}
	return all
})

// exampleOf parses an example: its comment has the title and, below it, the description; its files
// are the fields of the request.
func exampleOf(name string, data []byte) Example {
	a := txtar.Parse(data)
	title, about, _ := strings.Cut(strings.TrimSpace(string(a.Comment)), "\n")
	base := strings.TrimSuffix(path.Base(name), ".txtar")
	_, base, _ = strings.Cut(base, "-") // without the number for the order
	e := Example{Name: base, Title: title, About: strings.TrimSpace(about)}
	r := &e.Request
	for _, f := range a.Files {
		field := map[string]*string{
			"policies": &r.Policies, "object": &r.Object, "oldObject": &r.OldObject, "params": &r.Params, "namespace": &r.Namespace,
			"rbac": &r.RBAC, "operation": &r.Operation, "subresource": &r.Subresource, "user": &r.User, "groups": &r.Groups,
		}[f.Name]
		if field == nil {
			panic(fmt.Sprintf("%s: there is no field %s", name, f.Name))
		}
		if *field = string(f.Data); len(f.Data) < 200 && !strings.Contains(strings.TrimSpace(*field), "\n") && !strings.Contains(*field, ":") || f.Name == "user" {
			*field = strings.TrimSpace(*field)
		}
	}
	return e
}

// archive returns the files of a suite as a ZIP archive of one directory.
func archive(files map[string]string) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w, err := z.Create("playground/" + name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			return nil, fmt.Errorf("write the archive: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("write the archive: %w", err)
	}
	return b.Bytes(), nil
}

// functions are the functions of the templates.
var functions = template.FuncMap{
	"list": func(all ...string) []string { return all },
	"tone": func(line string) string {
		switch {
		case strings.HasPrefix(line, "+"):
			return "ins"
		case strings.HasPrefix(line, "-"):
			return "del"
		case strings.HasPrefix(line, "@@"):
			return "at"
		}
		return ""
	},
	"drawn": drawn,
	"rows":  func(text string) int { return min(max(strings.Count(text, "\n")+1, 4), 18) },
	"state": func(s report.ExplainedState, value, why string) string {
		switch s {
		case report.StateValue:
			return value
		case report.StateSkipped:
			if why == "" {
				return "not evaluated"
			}
			return "not evaluated: " + why
		case report.StateUnknown:
			return "unknown: " + why
		}
		return why
	},
	"mark": func(s report.ExplainedState, value string) string {
		if s == report.StateValue && (value == "true" || value == "false") {
			return string(s) + " is-" + value
		}
		return string(s)
	},
	"result": func(result string) string {
		return map[string]string{"yes": "matches", "no": "does not match", "unknown": "not known", "error": "fails"}[result]
	},
	"applies": func(applies string) string {
		return map[string]string{"yes": "applies", "no": "does not apply", "unknown": "may apply"}[applies]
	},
	"percent": func(cost, budget int) string {
		share := 100 * float64(cost) / max(float64(budget), 1)
		if share < 0.01 {
			return "< 0.01 %"
		}
		return fmt.Sprintf("%.2f %%", share)
	},
}
