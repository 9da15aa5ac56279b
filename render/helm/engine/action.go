package engine

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"text/template/parse"
)

// Action is an action of a template. There is one for each text.
type Action struct {
	// Keys are the keys of values that it may read, and pairs of such that it reads together, as a.b.
	Keys []string
	// variables are those that it has, and includes the templates that it names.
	variables, includes []string
	// declares is set for one that declares or assigns a variable.
	declares bool
}

// actions are the actions of pipelines. They are safe for concurrent use.
type actions struct {
	mu     sync.Mutex
	of     map[actionKey]*Action
	byText map[string]*Action
}

// actionKey is a pipeline, and the name of what a `{{template}}` executes with it; empty for other actions.
type actionKey struct {
	pipe     *parse.PipeNode
	template string
}

func newActions() *actions {
	return &actions{of: map[actionKey]*Action{}, byText: map[string]*Action{}}
}

func (as *actions) get(key actionKey) *Action {
	as.mu.Lock()
	defer as.mu.Unlock()
	if known, ok := as.of[key]; ok {
		return known
	}
	text := key.pipe.String()
	if key.template != "" {
		text = fmt.Sprintf("template %q %s", key.template, text)
	}
	a, ok := as.byText[text]
	if !ok {
		a = newAction(text, len(key.pipe.Decl) > 0)
		as.byText[text] = a
	}
	as.of[key] = a
	return a
}

var (
	variable = regexp.MustCompile(`\$\w+`)
	included = regexp.MustCompile(`\b(?:include|template) "([^"]+)"`)
)

func newAction(text string, declares bool) *Action {
	a := &Action{Keys: keysIn(text), declares: declares}
	for _, v := range variable.FindAllString(text, -1) {
		if v != "$_" {
			a.variables = append(a.variables, v)
		}
	}
	for _, found := range included.FindAllStringSubmatch(text, -1) {
		a.includes = append(a.includes, found[1])
	}
	return a
}

// readKey is a key that is read as a field, or said in quotes as functions are told it.
var readKey = regexp.MustCompile(`\.(\w+)|"([^"]+)"`)

// keysIn are the keys that the text of an action reads, and pairs of such that it reads together.
func keysIn(text string) (keys []string) {
	before, end := "", 0
	for _, at := range readKey.FindAllStringSubmatchIndex(text, -1) {
		quoted, from, to := at[2] < 0, max(at[2], at[4]), max(at[3], at[5])
		key := text[from:to]
		keys = append(keys, key)
		if before != "" && strings.TrimSpace(text[end:at[0]]) == "" && (quoted || end == at[0]) {
			keys = append(keys, before+"."+key)
		}
		before, end = key, at[1]
	}
	return keys
}
