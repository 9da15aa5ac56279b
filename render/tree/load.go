package tree

import (
	"fmt"
	"io/fs"
)

// Load reads the file that a path leads to, within the limits, and records it in a trace.
func (t *Tree) Load(name string, trace Trace) (data []byte, real string, err error) {
	r := t.Resolve(name)
	if r.Err != nil {
		trace.AddMiss(name, r)
		return nil, "", fmt.Errorf("%s: %w", name, r.Err)
	}
	trace.AddLinks(r.Links)
	if r.IsDir {
		return nil, "", &fs.PathError{Op: "read", Path: name, Err: errIsDir}
	}
	if data, err = t.Read(r.Real); err != nil {
		return nil, "", err
	}
	id, err := t.identityOf(r.Real, data)
	if err != nil {
		return nil, "", err
	}
	trace.Reads[r.Real] = id
	if bad := t.guardFile(data, id); bad != nil {
		return nil, "", &LocatedExpansionError{bad, Position{Path: r.Real, Line: bad.line}}
	}
	return data, r.Real, nil
}
