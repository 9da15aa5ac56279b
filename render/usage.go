package render

import (
	"path"
	"slices"

	"github.com/preadmit/preadmit/render/tree"
)

// usage is what kustomizations use. Its maps are keyed by path.
type usage struct {
	files map[string]bool
	dirs  map[string]bool // with everything below
	// reached are the kustomizations that roots are made of.
	reached map[string]bool
}

// kustomizeRoots adds the kustomizations that nothing else uses as roots, and sets what is used.
func (d *discoverer) kustomizeRoots() {
	for _, l := range d.dirs {
		if l.uses != nil {
			d.out.Diagnostics = append(d.out.Diagnostics, l.uses.Diagnostics...)
		}
	}
	roots, used := d.pickRoots(func(l *directory) bool { return !l.component() && !d.inTest(l.path) })
	d.used = used
	if d.selected != nil {
		inside, used := d.pickRoots(func(l *directory) bool { return !l.component() && !d.inTest(l.path) && d.selected(l.path) })
		roots, d.usedInside = append(roots, inside...), used
	}
	slices.Sort(roots)
	for _, dir := range slices.Compact(roots) {
		root := RootID{Kind: d.sourceOf(d.at(dir)).Kind(), Dir: dir}
		d.out.Roots = append(d.out.Roots, Root{RootID: root})
	}
}

// use returns the usage that counts for a directory.
func (d *discoverer) use(dir string) *usage {
	if d.selected != nil && d.selected(dir) {
		return d.usedInside
	}
	return d.used
}

func (l *directory) component() bool { return l.uses != nil && l.uses.Component }

// picker selects roots among kustomizations.
type picker struct {
	all map[string]*directory
	// users is the number of kustomizations that may use one, by path.
	users map[string]int
	// mayBeRoot reports whether an unused kustomization is a root.
	mayBeRoot func(*directory) bool
	roots     []string
	reached   map[string]bool
}

// pickRoots returns the kustomizations that may be roots and that no other rendered one uses, and what rendered
// kustomizations use.
func (d *discoverer) pickRoots(mayBeRoot func(*directory) bool) ([]string, *usage) {
	p := &picker{all: map[string]*directory{}, users: map[string]int{}, mayBeRoot: mayBeRoot, reached: map[string]bool{}}
	var tops []*directory
	for _, l := range d.dirs {
		if l.uses != nil {
			p.all[l.path] = l
			for _, base := range l.uses.Bases {
				p.users[base]++
			}
		}
	}
	for _, l := range d.dirs {
		if l.uses != nil && p.users[l.path] == 0 {
			tops = append(tops, l)
		}
	}
	for _, l := range tops {
		p.top(l)
	}
	for _, l := range d.dirs { // the others are used, but by nothing that is rendered: cycles
		if l.uses != nil && !p.reached[l.path] && mayBeRoot(l) {
			p.addRoot(l)
		}
	}
	return p.roots, d.usage(p.reached)
}

// top handles a kustomization that nothing uses: it is a root, or else what it uses does not count as used by it.
func (p *picker) top(l *directory) {
	if p.mayBeRoot(l) {
		p.addRoot(l)
		return
	}
	for _, name := range l.uses.Bases {
		p.users[name]--
		if base := p.all[name]; base != nil && p.users[name] == 0 {
			p.top(base)
		}
	}
}

func (p *picker) addRoot(l *directory) {
	p.roots = append(p.roots, l.path)
	p.reach(l.path)
}

// reach marks the kustomizations that a kustomization consists of.
func (p *picker) reach(dir string) {
	l := p.all[dir]
	if l == nil || p.reached[dir] {
		return
	}
	p.reached[dir] = true
	for _, next := range l.uses.Bases {
		p.reach(next)
	}
}

// usage returns what rendered kustomizations use, and what unused Components read besides their resources.
func (d *discoverer) usage(reached map[string]bool) *usage {
	u := &usage{files: map[string]bool{}, dirs: map[string]bool{}, reached: reached}
	for _, l := range d.dirs {
		switch {
		case l.uses == nil:
		case reached[l.path]:
			u.add(l.uses)
		case l.component() && (d.selected == nil || d.selected(l.path)):
			u.addUnused(l.uses, d.sourceOf(l).Reads(l.path))
		}
	}
	return u
}

func (u *usage) add(s *Uses) {
	for _, name := range s.Files {
		u.files[name] = true
	}
	for _, name := range s.Dirs {
		u.dirs[name] = true
	}
}

// addUnused adds what a Component that is not rendered uses. Its resources may be applied without it.
func (u *usage) addUnused(s *Uses, reads tree.Trace) {
	for _, name := range s.Files {
		if reads.Reads[name] != "" && !slices.Contains(s.Resources, name) {
			u.files[name] = true
		}
	}
}

func (u *usage) covers(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if u.dirs[dir] {
			return true
		}
	}
	return false
}
