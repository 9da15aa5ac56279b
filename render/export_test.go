package render

import "reflect"

// What the tests of the package look into.

// EntrySuffix tells entries of a cache from other files.
const EntrySuffix = entrySuffix

// CacheKey names an entry of a cache.
type CacheKey = cacheKey

// Path returns the file of an entry.
func (c *Cache) Path(key CacheKey) string { return c.path(key) }

// Has reports whether there is an entry, and marks it as used.
func (c *Cache) Has(key CacheKey) bool { return c.load(key) != nil }

// Store keeps what a root rendered to.
func (c *Cache) Store(key CacheKey, r *Result) { c.store(key, r) }

// Size returns the bytes of all entries.
func (c *Cache) Size() (int64, error) {
	_, total, err := c.list()
	return total, err
}

// Found returns what Discover found.
func (r *Renderer) Found() *Discovery { return &r.found.Load().out }

// Cached reports whether the needs come from the cache.
func (n *Needs) Cached() bool { return n.words != nil }

// SameNeeds reports whether needs are the same, but for the tree they are of and where they come
// from. It takes empty lists and none for different.
func SameNeeds(a, b *Needs) bool {
	x, y := *a, *b
	x.tree, x.words, y.tree, y.words = nil, nil, nil, nil
	return reflect.DeepEqual(x, y)
}

// Shared counts what was taken from another tree or the cache.
func (r *Renderer) Shared() (dirs, uses, needs int) {
	for _, l := range r.found.Load().dirs {
		if l.same == nil {
			continue
		}
		if dirs++; l.uses != nil && l.uses == l.same.uses {
			uses++
		}
	}
	for _, root := range r.found.Load().out.Roots {
		if r.Needs(root).Cached() {
			needs++
		}
	}
	return dirs, uses, needs
}
