package locate

import (
	"strings"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
)

// keeping holds what may decide whether an object exists, as far as it is known before values are tried.
type keeping struct {
	// reads are the keys that are read to write its kind and version.
	reads []*reads
	// paths are the values that enable dependencies: those of their conditions and tags.
	paths map[string]bool
	// leaves are the leaves worth a try, the most likely first.
	leaves []*Leaf
}

// readSwitch is the rank of a value that enables a dependency.
const readSwitch = 20

// keepers returns the leaves that may decide whether the object exists, the most likely first, computed once.
func (o *object) keepers() []*Leaf {
	if o.keeping != nil {
		return o.keeping.leaves
	}
	k := &keeping{paths: switches(o.Release.Chart.Chart, o.Chart, o.made.File)}
	for _, field := range []string{"kind", "apiVersion"} {
		k.reads = append(k.reads, o.readsOf(o.wrote(field, "")))
	}
	_, defaults := o.pathOf(o.Chart.ChartFullPath() + "/" + valuesFile)
	k.leaves = byRank(o.leaves, func(l *Leaf) int {
		if l.Builtin || l.Default && !defaults {
			return 0
		}
		return k.rank(l)
	})
	o.keeping = k
	return k.leaves
}

// rank returns how likely a leaf decides whether the object exists; 0 when it is not worth a try.
func (k *keeping) rank(l *Leaf) int {
	if len(k.paths) > 0 && k.paths[dotted(l.Path)] {
		return readSwitch
	}
	near := 0
	for _, r := range k.reads {
		near = max(near, r.presence(l))
	}
	if near < readAround {
		return 0
	}
	return near
}

// dotted returns a path of keys in the form of conditions; "" if it has indexes.
func dotted(path []any) string {
	var keys []string
	for _, step := range path {
		key, ok := step.(string)
		if !ok {
			return ""
		}
		keys = append(keys, key)
	}
	return strings.Join(keys, ".")
}

// switches returns the values that enable the dependency of a file, and those that contain it. c is the chart
// as it was read, rendered the same chart after rendering.
func switches(c, rendered *helmchart.Chart, file string) map[string]bool {
	paths := map[string]bool{}
	prefix := ""
	for of := rendered; of != nil && c != nil; {
		next := dependencyIn(of, file)
		if next == nil {
			break
		}
		declared := declaredAs(c, next.Name())
		for _, d := range declared {
			for condition := range strings.SplitSeq(d.Condition, ",") {
				paths[prefix+strings.TrimSpace(condition)] = true
			}
			for _, tag := range d.Tags {
				paths["tags."+tag] = true
			}
		}
		prefix += next.Name() + "."
		of, c = next, readAs(c, declared)
	}
	return paths
}

// dependencyIn returns the dependency of a chart that contains a file, perhaps in a dependency of its own; nil
// if the chart itself does.
func dependencyIn(c *helmchart.Chart, file string) *helmchart.Chart {
	for _, d := range c.Dependencies() {
		if of, _ := chart.Find(d, file); of != nil {
			return d
		}
	}
	return nil
}

// declaredAs returns the declarations of a dependency, by its name in its parent.
func declaredAs(c *helmchart.Chart, name string) (all []*helmchart.Dependency) {
	for _, d := range c.Metadata.Dependencies {
		if d != nil && (d.Alias == name || d.Alias == "" && d.Name == name) {
			all = append(all, d)
		}
	}
	return all
}

// readAs returns the declared dependency as it was read; nil if there is none.
func readAs(c *helmchart.Chart, declared []*helmchart.Dependency) *helmchart.Chart {
	for _, d := range declared {
		for _, dependency := range c.Dependencies() {
			if dependency.Name() == d.Name {
				return dependency
			}
		}
	}
	return nil
}
