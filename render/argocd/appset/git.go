package appset

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// git returns the parameters of a git generator.
func (g *generator) git(content any, field string) ([]params, error) {
	spec, err := as[git](content)
	if err != nil {
		return nil, errorf(field, "%v", err)
	}
	top, err := g.Git(spec.RepoURL, spec.Revision)
	if err != nil {
		return nil, refusedf(field+".repoURL", "%v", err)
	}
	switch {
	case len(spec.Directories) > 0:
		return g.directories(&spec, top, field)
	case len(spec.Files) > 0:
		return g.files(&spec, top, field)
	}
	return nil, errorf(field, "the git generator has neither directories nor files")
}

// walk calls a function for all files and directories of a repository except .git.
func (g *generator) walk(top string, visit func(name string, isDir bool) error) error {
	within := ""
	if top != "." {
		within = top + "/"
	}
	return fs.WalkDir(g.Tree.Fsys, top, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == top:
			return nil
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		}
		return visit(strings.TrimPrefix(name, within), entry.IsDir())
	})
}

// directories returns the parameters of the directories that patterns match.
func (g *generator) directories(spec *git, top, field string) ([]params, error) {
	var all []params
	err := g.walk(top, func(name string, isDir bool) error {
		if !isDir {
			return nil
		}
		if strings.HasPrefix(path.Base(name), ".") {
			return fs.SkipDir
		}
		included, by := false, 0
		for i, d := range spec.Directories {
			if match, err := path.Match(d.Path, name); err != nil || !match {
				continue
			}
			if d.Exclude {
				return nil
			}
			if !included {
				included, by = true, i
			}
		}
		if !included {
			return nil
		}
		values := g.ofPath(name, "", spec.Prefix)
		if err := g.appendValues(spec.Values, values); err != nil {
			return err
		}
		all = append(all, params{values, []source{{field: field, path: fmt.Sprintf("directories[%d].path", by), prefix: spec.Prefix}}})
		return nil
	})
	if err != nil {
		return nil, errorf(field, "%v", err)
	}
	return all, nil
}

// ofPath returns the path parameters of a directory, or of a file in it.
func (g *generator) ofPath(dir, file, prefix string) map[string]any {
	segments := strings.Split(dir, "/")
	values := map[string]any{}
	if g.set.Spec.GoTemplate {
		at := map[string]any{"path": dir, "basename": path.Base(dir), "basenameNormalized": sanitize(path.Base(dir))}
		var list []any
		for _, s := range segments {
			list = append(list, s)
		}
		if at["segments"] = list; file != "" {
			at["filename"], at["filenameNormalized"] = file, sanitize(file)
		}
		if prefix != "" {
			values[prefix] = map[string]any{"path": at}
		} else {
			values["path"] = at
		}
		return values
	}
	name := "path"
	if prefix != "" {
		name = prefix + ".path"
	}
	values[name], values[name+".basename"], values[name+".basenameNormalized"] = dir, path.Base(dir), sanitize(path.Base(dir))
	if file != "" {
		values[name+".filename"], values[name+".filenameNormalized"] = file, sanitize(file)
	}
	for i, s := range segments {
		if s != "" {
			values[name+"["+strconv.Itoa(i)+"]"] = s
		}
	}
	return values
}

// files returns the parameters in the files that patterns match.
func (g *generator) files(spec *git, top, field string) ([]params, error) {
	var include, exclude []func(string) bool
	for i, f := range spec.Files {
		if path.IsAbs(f.Path) {
			return nil, refusedf(fmt.Sprintf("%s.files[%d].path", field, i), "git refuses %s, which is outside of the repository: only with the new globbing of Argo CD it is taken to be in it", f.Path)
		}
		match, err := pathspec(f.Path)
		if err != nil {
			return nil, errorf(fmt.Sprintf("%s.files[%d].path", field, i), "%v", err)
		}
		if f.Exclude {
			exclude = append(exclude, match)
		} else {
			include = append(include, match)
		}
	}
	matches := func(all []func(string) bool, name string) bool {
		return slices.ContainsFunc(all, func(match func(string) bool) bool { return match(name) })
	}
	var names []string
	err := g.walk(top, func(name string, isDir bool) error {
		if !isDir && matches(include, name) && !matches(exclude, name) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, errorf(field, "%v", err)
	}
	slices.Sort(names)
	var all []params
	for _, name := range names {
		more, err := g.file(spec, top, name, field)
		if err != nil {
			return nil, errorf(field+".files", "unable to process file '%s': %v", name, err)
		}
		all = append(all, more...)
	}
	return all, nil
}

// file returns the parameters in a file: a mapping, or a list of mappings.
func (g *generator) file(spec *git, top, name, field string) ([]params, error) {
	real := path.Join(top, name)
	data, _, err := g.Tree.Load(real, g.trace)
	if err != nil {
		return nil, err
	}
	objects, isList := []map[string]any{{}}, false
	if err := yaml.Unmarshal(data, &objects[0]); err != nil {
		objects, isList = nil, true
		if err := yaml.Unmarshal(data, &objects); err != nil {
			return nil, fmt.Errorf("unable to parse file: %w", err)
		}
	}
	var all []params
	for i, o := range objects {
		values := map[string]any{}
		if g.set.Spec.GoTemplate {
			maps.Copy(values, o)
		} else {
			for key, value := range flattened(o) {
				values[key] = value
			}
		}
		maps.Copy(values, g.ofPath(path.Dir(name), path.Base(name), spec.Prefix))
		if err := g.appendValues(spec.Values, values); err != nil {
			return nil, err
		}
		from := source{field: field, path: "files", file: real, prefix: spec.Prefix, index: -1}
		if isList {
			from.index = i
		}
		all = append(all, params{values, []source{from}})
	}
	return all, nil
}

// pathspec returns a function that matches paths like git's pathspecs: `*` matches slashes as well, and a directory
// matches everything below it.
func pathspec(pattern string) (func(name string) bool, error) {
	asDir := strings.HasSuffix(pattern, "/")
	pattern = path.Clean(pattern)
	if !strings.ContainsAny(pattern, `*?[\`) {
		return func(name string) bool {
			return pattern == "." || name == pattern || strings.HasPrefix(name, pattern+"/")
		}, nil
	}
	if asDir { // git matches no directories with a pattern
		pattern += "/"
	}
	var text strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			text.WriteString(".*")
			for i+1 < len(pattern) && pattern[i+1] == '*' {
				i++
			}
		case '?':
			text.WriteByte('.')
		case '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end < 0 {
				return nil, fmt.Errorf("pattern %q: a bracket is not closed", pattern)
			}
			class := pattern[i+1 : i+1+end]
			if rest, ok := strings.CutPrefix(class, "!"); ok {
				class = "^" + rest
			}
			text.WriteString("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i += end + 1
		case '\\':
			if i+1 < len(pattern) {
				i++
				text.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
			}
		default:
			text.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	match, err := regexp.Compile(`(?s)^` + text.String() + `$`)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return match.MatchString, nil
}
