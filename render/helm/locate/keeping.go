package locate

import (
	"strings"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/preadmit/preadmit/render/helm/chart"
)

// keeping is what decides whether an object is there, as far as it is known without trying.
type keeping struct {
	// reads are the keys that what writes its kind and version reads.
	reads []*reads
	// paths are the values that turn dependencies on: those of their conditions and tags.
	paths map[string]bool
	// leaves are those that are worth a try, the most likely first.
	leaves []*Leaf
}

// readSwitch is the rank of a value that turns a dependency on.
const readSwitch = 20

// keepers are the leaves that may decide whether the object is there, the most likely first. They are found once.
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

// rank says how likely it is that a leaf decides whether the object is there; 0 when it is not worth a try.
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

// dotted is a path of keys as conditions are written.
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

// switches are the values that turn the dependency on that a file is of, and those that it is in. c is the chart as it was read,
// rendered what became of it.
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

// dependencyIn is the dependency of a chart that a file is of, or that has it below; nil if the file is of the chart itself.
func dependencyIn(c *helmchart.Chart, file string) *helmchart.Chart {
	for _, d := range c.Dependencies() {
		if of, _ := chart.Find(d, file); of != nil {
			return d
		}
	}
	return nil
}

// declaredAs are the declarations of a dependency by the name that it has in its parent.
func declaredAs(c *helmchart.Chart, name string) (all []*helmchart.Dependency) {
	for _, d := range c.Metadata.Dependencies {
		if d != nil && (d.Alias == name || d.Alias == "" && d.Name == name) {
			all = append(all, d)
		}
	}
	return all
}

// readAs is the dependency that is declared, as it was read; nil if there is none.
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
