package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/action"
	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
)

// actionFile has the allowed fields of action.yml.
type actionFile struct {
	Name, Description, Author string
	Branding                  struct{ Icon, Color string }
	Inputs                    map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, Shell, Run string
			Env                  map[string]string
		}
	}
}

func readActionFile(t *testing.T) *actionFile {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(readTop(t, "action.yml")))
	decoder.KnownFields(true) // no `uses` of others' actions either
	var a actionFile
	if err := decoder.Decode(&a); err != nil {
		t.Fatal(err)
	}
	return &a
}

// TestActionFile: action.yml is a composite action that runs nothing but preadmit, and
// no expression becomes part of a script.
func TestActionFile(t *testing.T) {
	a := readActionFile(t)
	if a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("runs using %q with %d steps", a.Runs.Using, len(a.Runs.Steps))
	}
	if a.Name == "" || a.Description == "" || len(a.Description) > 125 || a.Branding.Icon == "" || a.Branding.Color == "" {
		t.Error("the marketplace wants a name, a description of at most 125 characters, and branding")
	}
	for _, step := range a.Runs.Steps {
		if strings.Contains(step.Run, "${{") {
			t.Errorf("step %q splices an expression into its script:\n%s", step.Name, step.Run)
		}
		if step.Shell != "bash" || step.Run == "" {
			t.Errorf("step %q runs %q in the shell %q", step.Name, step.Run, step.Shell)
		}
	}
	for name, output := range a.Outputs {
		if output.Value != "${{ steps.judge.outputs."+name+" }}" || output.Description == "" {
			t.Errorf("output %s is %q", name, output.Value)
		}
	}
}

// TestActionFileInputs: the inputs of action.yml are the command's flags, and are passed to it.
func TestActionFileInputs(t *testing.T) {
	a := readActionFile(t)
	notFlags := []string{"path", "github-token", "version", "checksum", "binary"}
	notInputs := []string{"help", "color"}
	flags := action.NewCommand(cli.Process{}).Flags()
	flags.VisitAll(func(flag *pflag.Flag) {
		if _, ok := a.Inputs[flag.Name]; !ok && !slices.Contains(notInputs, flag.Name) {
			t.Errorf("the flag --%s is no input", flag.Name)
		}
	})
	env := map[string]string{}
	for _, step := range a.Runs.Steps {
		for name, value := range step.Env {
			env[name] = value
		}
	}
	for name, input := range a.Inputs {
		if flags.Lookup(name) == nil && !slices.Contains(notFlags, name) {
			t.Errorf("the input %s is no flag", name)
		}
		if input.Description == "" || input.Required {
			t.Errorf("the input %s has no description, or is required", name)
		}
		variable := "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		switch name {
		case "version", "checksum", "binary":
			variable = strings.ToUpper(name)
		}
		if !strings.HasPrefix(env[variable], "${{ inputs."+name+" ") {
			t.Errorf("the input %s reaches no step: %s is %q", name, variable, env[variable])
		}
	}
}

// TestActionDocumentation: docs/action.md has exactly the inputs and outputs of the Action.
func TestActionDocumentation(t *testing.T) {
	a := readActionFile(t)
	text := readDocument(t)
	for _, section := range []struct {
		title string
		has   func(name string) bool
		names []string
	}{
		{"Inputs", func(n string) bool { _, ok := a.Inputs[n]; return ok }, names(a.Inputs)},
		{"Outputs", func(n string) bool { _, ok := a.Outputs[n]; return ok }, names(a.Outputs)},
	} {
		_, body, _ := strings.Cut(text, "\n## "+section.title+"\n")
		body, _, _ = strings.Cut(body, "\n## ")
		var told []string
		for _, row := range regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(body, -1) {
			for _, name := range strings.Split(row[1], ", ") {
				told = append(told, strings.Trim(name, "`"))
			}
		}
		for _, name := range told {
			if !section.has(name) {
				t.Errorf("%s: %s is told and not there", section.title, name)
			}
		}
		for _, name := range section.names {
			if !slices.Contains(told, name) {
				t.Errorf("%s: %s is not told", section.title, name)
			}
		}
	}
}

func names[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func readDocument(t *testing.T) string {
	t.Helper()
	return readTop(t, filepath.Join("docs", "action.md"))
}

// workflowFile has the allowed fields of a workflow in the documentation.
type workflowFile struct {
	Name        string
	On          any
	Permissions map[string]string
	Jobs        map[string]struct {
		If     string
		RunsOn string `yaml:"runs-on"`
		Steps  []struct {
			ID, If, Uses string
			With         map[string]string
		}
	}
}

// TestActionWorkflows: the workflows in the documentation are valid, use existing inputs,
// and request exactly the permissions that these need.
func TestActionWorkflows(t *testing.T) {
	a := readActionFile(t)
	found := 0
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(readDocument(t), -1) {
		if !strings.Contains(block[1], "\njobs:") {
			continue
		}
		found++
		decoder := yaml.NewDecoder(strings.NewReader(block[1]))
		decoder.KnownFields(true)
		var w workflowFile
		if err := decoder.Decode(&w); err != nil {
			t.Errorf("%v:\n%s", err, block[1])
			continue
		}
		checkWorkflow(t, a, &w, block[1])
	}
	if found < 5 {
		t.Errorf("%d workflows, want 5 at least", found)
	}
}

func checkWorkflow(t *testing.T, a *actionFile, w *workflowFile, text string) {
	t.Helper()
	needs := map[string]string{"contents": "read"}
	uses := 0
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			switch {
			case strings.HasPrefix(step.Uses, "actions/download-artifact@"):
				needs["actions"] = "read"
			case strings.HasPrefix(step.Uses, "preadmit/preadmit@"):
				uses++
				for name := range step.With {
					if _, ok := a.Inputs[name]; !ok {
						t.Errorf("there is no input %s:\n%s", name, text)
					}
				}
				for input, permission := range map[string]string{"check-run": "checks", "comment": "pull-requests", "sarif": "security-events"} {
					if step.With[input] == "true" {
						needs[permission] = "write"
					}
				}
			}
		}
	}
	if uses != 1 || w.On == nil || strings.Contains(text, "pull_request_target") {
		t.Errorf("it uses the action %d times:\n%s", uses, text)
	}
	for permission, level := range needs {
		if w.Permissions[permission] != level {
			t.Errorf("it needs %s: %s:\n%s", permission, level, text)
		}
	}
	for permission := range w.Permissions {
		if needs[permission] == "" {
			t.Errorf("it does not need %s:\n%s", permission, text)
		}
	}
}

// TestReleaseNames: action/install.sh downloads files that .goreleaser.yaml creates.
func TestReleaseNames(t *testing.T) {
	var config struct {
		Builds []struct {
			ID, Main, Binary string
			Env              []string
			Goos, Goarch     []string
		}
		Archives []struct {
			IDs          []string
			Formats      []string
			NameTemplate string `yaml:"name_template"`
		}
		Checksum struct {
			NameTemplate string `yaml:"name_template"`
			Algorithm    string
		}
	}
	if err := yaml.Unmarshal([]byte(readTop(t, ".goreleaser.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) == 0 || config.Builds[0].ID != "preadmit" || len(config.Archives) != len(config.Builds) {
		t.Fatalf("want preadmit first and an archive for each program: %+v", config)
	}
	for i, build := range config.Builds {
		if build.Main != "./cmd/"+build.Binary || !slices.Contains(build.Env, "CGO_ENABLED=0") || !slices.Equal(config.Archives[i].IDs, []string{build.ID}) {
			t.Errorf("want one static program in one archive: %+v in %+v", build, config.Archives[i])
		}
		if !strings.HasPrefix(config.Archives[i].NameTemplate, build.Binary+"_") {
			t.Errorf("the archive of %s is called %s", build.Binary, config.Archives[i].NameTemplate)
		}
	}
	script := readTop(t, filepath.Join("action", "install.sh"))
	name := strings.NewReplacer("{{ .Version }}", "${version}", "{{ .Os }}", "${os}", "{{ .Arch }}", "${arch}").Replace(config.Archives[0].NameTemplate)
	wants := []string{
		`archive="` + name + "." + config.Archives[0].Formats[0] + `"`,
		"/" + config.Checksum.NameTemplate + `"`,
		config.Checksum.Algorithm + "()",
		`"` + config.Builds[0].Binary + `$suffix"`,
	}
	for _, os := range config.Builds[0].Goos {
		wants = append(wants, "os="+os+" suffix")
	}
	for _, arch := range config.Builds[0].Goarch {
		wants = append(wants, "arch="+arch+" ;;")
	}
	for _, want := range wants {
		if !strings.Contains(script, want) {
			t.Errorf("action/install.sh does not have %s", want)
		}
	}
}

// TestHooks: the hooks for pre-commit are existing commands.
func TestHooks(t *testing.T) {
	var hooks []struct{ ID, Name, Description, Entry, Language string }
	if err := yaml.Unmarshal([]byte(readTop(t, ".pre-commit-hooks.yaml")), &hooks); err != nil {
		t.Fatal(err)
	}
	for _, hook := range hooks {
		args := strings.Fields(hook.Entry)
		if hook.ID == "" || hook.Name == "" || hook.Description == "" || hook.Language != "golang" || args[0] != "preadmit" {
			t.Errorf("hook %+v", hook)
		}
		cmd, rest, err := newRootCommand(cli.Process{}).Find(args[1:])
		if err != nil || cmd.Name() == "preadmit" {
			t.Errorf("hook %s: there is no command %q: %v", hook.ID, hook.Entry, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("hook %s: %v", hook.ID, err)
		}
		if !strings.Contains(readTop(t, filepath.Join("docs", "ci.md")), "- id: "+hook.ID+"\n") {
			t.Errorf("hook %s is not documented", hook.ID)
		}
	}
	if len(hooks) == 0 {
		t.Error("there are no hooks")
	}
}

// readTop reads a file in the top directory of the repository.
func readTop(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
