package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template/parse"
)

// Action is an action of a template. Actions with the same text are one.
type Action struct {
	// Keys are the keys of values that it may read, and pairs of keys that it reads together, as a.b.
	Keys []string
	// number identifies it among the actions of an engine.
	number int
	// variables are the numbers of its variables, and includes the templates that it names.
	variables []int
	includes  []string
	// declares is set if it declares or assigns a variable.
	declares bool
}

// actions maps pipelines to their actions. It is safe for concurrent use.
type actions struct {
	mu     sync.Mutex
	of     map[actionKey]*Action
	byText map[string]*Action
	*numbers
}

// numbers assigns numbers to the actions and variables of an engine. It is safe for concurrent use.
type numbers struct {
	mu        sync.Mutex
	actions   int
	variables map[string]int
}

func newNumbers() *numbers { return &numbers{variables: map[string]int{}} }

// actionKey is a pipeline and, for `{{template}}`, the name of the template; "" for other actions.
type actionKey struct {
	pipe     *parse.PipeNode
	template string
}

func newActions(numbered *numbers) *actions {
	return &actions{of: map[actionKey]*Action{}, byText: map[string]*Action{}, numbers: numbered}
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
		a = as.newAction(text, len(key.pipe.Decl) > 0)
		as.byText[text] = a
	}
	as.of[key] = a
	return a
}

func (ns *numbers) newAction(text string, declares bool) *Action {
	a := &Action{Keys: keysIn(text), includes: includesIn(text), declares: declares}
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.actions++
	a.number = ns.actions
	for _, name := range variablesIn(text) {
		number, ok := ns.variables[name]
		if !ok {
			number = len(ns.variables)
			ns.variables[name] = number
		}
		a.variables = append(a.variables, number)
	}
	return a
}

// variablesIn returns the variables in the text of an action, each once.
func variablesIn(text string) (names []string) {
	for at := strings.IndexByte(text, '$'); at >= 0; {
		end := at + 1 + len(word(text[at+1:]))
		if name := text[at:end]; name != "$" && name != "$_" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		next := strings.IndexByte(text[end:], '$')
		if next < 0 {
			break
		}
		at = end + next
	}
	return names
}

// includesIn returns the templates that the text of an action names: after `include` or `template`, in quotes.
func includesIn(text string) (names []string) {
	for at := 0; at < len(text); at++ {
		if at > 0 && isWord(text[at-1]) {
			continue
		}
		rest, found := strings.CutPrefix(text[at:], `include "`)
		if !found {
			rest, found = strings.CutPrefix(text[at:], `template "`)
		}
		if !found {
			continue
		}
		if end := strings.IndexByte(rest, '"'); end > 0 {
			names = append(names, rest[:end])
			at = len(text) - len(rest) + end
		}
	}
	return names
}

// word returns the letters, digits and underscores at the beginning of a text.
func word(text string) string {
	end := 0
	for end < len(text) && isWord(text[end]) {
		end++
	}
	return text[:end]
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// keysIn returns the keys that the text of an action reads, as a field or as a quoted argument of a function,
// and pairs of keys that it reads together.
func keysIn(text string) (keys []string) {
	before, end := "", 0
	for at := 0; at < len(text); {
		key, after, quoted := keyAt(text, at)
		if key == "" {
			at++
			continue
		}
		keys = append(keys, key)
		if before != "" && strings.TrimSpace(text[end:at]) == "" && (quoted || end == at) {
			keys = append(keys, before+"."+key)
		}
		before, at, end = key, after, after
	}
	return keys
}

// keyAt returns the key that is read at an offset, and the offset after it; "" if there is none.
func keyAt(text string, at int) (key string, after int, quoted bool) {
	switch text[at] {
	case '.':
		key = word(text[at+1:])
		return key, at + 1 + len(key), false
	case '"':
		if end := strings.IndexByte(text[at+1:], '"'); end > 0 {
			return text[at+1 : at+1+end], at + end + 2, true
		}
	}
	return "", at, false
}
