package initialize

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/report/format/escape"
	"github.com/preadmit/preadmit/scanner/config"
	"github.com/preadmit/preadmit/scanner/release"
)

//go:embed files
var files embed.FS

// file is a file to write, by its path from the top of the repository.
type file struct {
	path string
	data []byte
	// about is a short description, for the output.
	about string
}

// firstPolicies is the path of the first policies.
const firstPolicies = "policies/preadmit.yaml"

// The names of the CI systems.
const (
	ciAuto   = "auto"
	ciGitHub = "github"
	ciGitLab = "gitlab"
	ciNone   = "none"
)

// files returns the files for a repository, in the order in which a person should read them.
func (r *repository) files(ci string) ([]file, error) {
	var all []file
	settings := struct {
		Policies string
		ArgoCD   bool
		Targets  []cluster
		Servers  []setting
	}{Servers: r.settings()}
	if !r.flux { // objects of Flux already define the clusters and the deployer
		settings.ArgoCD, settings.Targets = r.argoCD, r.targets()
	}
	if len(r.policies) == 0 {
		settings.Policies = firstPolicies
		data, err := files.ReadFile("files/policies.yaml")
		if err != nil {
			return nil, err
		}
		all = append(all, file{firstPolicies, data, "three policies that warn, to begin with"})
	}
	data, err := execute("files/config.yaml.tmpl", settings)
	if err != nil {
		return nil, err
	}
	all = append([]file{{config.FileName, data, "what is judged, and how"}}, all...)
	return r.workflow(all, ci)
}

// setting is a setting of the configuration, and the place of a file that has it.
type setting struct{ Place, Key, Value string }

// settings returns the settings for the API servers that files of the repository configure.
func (r *repository) settings() []setting {
	var all []setting
	for _, s := range r.servers {
		set := setting{Place: fmt.Sprintf("%s:%d", s.Path, s.Line)}
		_, err := release.ParseVersion(s.Version)
		switch {
		case len(s.FeatureGates) > 0:
			set.Key, set.Value = "featureGates", flow(s.FeatureGates)
		case len(s.RuntimeConfig) > 0:
			set.Key, set.Value = "runtimeConfig", flow(s.RuntimeConfig)
		case err != nil:
			continue // cannot be imitated
		default:
			set.Key, set.Value = "kubernetesVersion", flow(strings.TrimPrefix(s.Version, "v"))
		}
		all = append(all, set)
	}
	return all
}

// flow returns a value as YAML in one line.
func flow(value any) string {
	data, _ := json.Marshal(value) // cannot fail: it has strings and booleans
	return string(escape.GuardJSON(data))
}

// workflow adds the file of the CI system.
func (r *repository) workflow(all []file, ci string) ([]file, error) {
	if ci == ciAuto {
		ci = r.ci()
	}
	name, to, about := "", "", ""
	switch ci {
	case ciGitHub:
		name, to, about = "files/github.yaml", ".github/workflows/preadmit.yaml", "a workflow for pull requests"
	case ciGitLab:
		name, to, about = "files/gitlab.yaml", ".gitlab/preadmit.gitlab-ci.yml", "a job for merge requests; have .gitlab-ci.yml include it (include: {local: .gitlab/preadmit.gitlab-ci.yml})"
	default:
		return all, nil
	}
	data, err := files.ReadFile(name)
	return append(all, file{to, data, about}), err
}

// ci returns the CI system, from the files of the repository.
func (r *repository) ci() string {
	switch {
	case r.has(".github"):
		return ciGitHub
	case r.has(".gitlab-ci.yml"):
		return ciGitLab
	case r.has("bitbucket-pipelines.yml"), r.has("azure-pipelines.yml"):
		return ciNone
	}
	return ciGitHub
}

func execute(name string, data any) ([]byte, error) {
	parsed, err := template.New(path.Base(name)).Funcs(template.FuncMap{"yaml": scalar, "line": escape.Line}).ParseFS(files, name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = parsed.Execute(&b, data)
	return b.Bytes(), err
}

// plainScalar matches names that need no quotes in YAML, except words such as true and null, and that a shell prints as
// they are.
var plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./*-]*$`)

// scalar returns a name of the repository as a YAML scalar in one line.
func scalar(name string) string {
	plain := yaml.Node{Kind: yaml.ScalarNode, Value: name}
	if plainScalar.MatchString(name) && plain.ShortTag() == "!!str" {
		return name
	}
	return flow(name)
}

// write writes a file if it does not exist, and reports whether it wrote it.
func (r *repository) write(f file) (bool, error) {
	path := filepath.Join(r.dir, filepath.FromSlash(f.path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("write %s: %w", f.path, err)
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write %s: %w", f.path, err)
	}
	_, err = out.Write(f.data)
	if err := errors.Join(err, out.Close()); err != nil {
		return false, fmt.Errorf("write %s: %w", f.path, err)
	}
	return true, nil
}
