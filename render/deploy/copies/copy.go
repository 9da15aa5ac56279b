package copies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// entry is an entry of `copy:`. Other fields are refused.
type entry struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Exclude  []string `json:"exclude"`
	Strategy string   `json:"strategy"`
}

// Copy is a copy that overwrites existing files.
type Copy struct {
	entry
	// Alias is the alias of the source. from is the path in the source, to the path in the artifact.
	Alias    string
	from, to string
}

// String returns the copy as it is written.
func (c Copy) String() string { return fmt.Sprintf("from %q to %q", c.From, c.To) }

// Copies returns the copies that make an artifact. If one is not supported, why is the reason.
func (a Artifact) Copies() (all []Copy, why string) {
	for i, raw := range a.Copy {
		var c Copy
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if decoder.Decode(&c.entry) != nil {
			return nil, fmt.Sprintf("with copies that are not supported: their fields are from, to, exclude and strategy (copy %d)", i+1)
		}
		switch {
		case c.Strategy != "" && c.Strategy != "Overwrite":
			return nil, fmt.Sprintf("%s with the strategy %s, which is not supported", c, c.Strategy)
		case len(c.Exclude) > 0:
			return nil, fmt.Sprintf("%s without some of the files (exclude), which is not supported", c)
		case !c.split():
			return nil, fmt.Sprintf("%s, which is not valid", c)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, "of nothing"
	}
	return all, ""
}

// split sets the alias and the paths.
func (c *Copy) split() (ok bool) {
	name, ok := strings.CutPrefix(c.From, "@")
	if !ok {
		return false
	}
	if c.Alias, c.from, ok = strings.Cut(name, "/"); !ok {
		return false
	}
	c.to, ok = strings.CutPrefix(c.To, "@artifact/")
	return ok
}
