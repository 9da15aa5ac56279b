package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Cache stores the results of roots on disk. The key of a result covers everything that decides it: the program, its
// options, the root, and the name and content of each file that rendering may read. So nothing has to be invalidated.
// Processes may share the directory: an entry is written to a temporary file and renamed. A damaged entry counts as
// missing.
//
// Entries hold rendered objects, including Secrets of the repository, so only their owner may read them. Whoever can
// write to the directory decides which objects are judged.
type Cache struct {
	dir string
	// limit bounds the size of all entries, in bytes; see Trim.
	limit int64
	scan  string // see ShareFailures

	mu      sync.Mutex
	written bool
	failure error
}

// cacheFormat is the version of the format of entries and of the computation of keys.
const cacheFormat = "preadmit-render-8"

// entrySuffix is the file name suffix of entries; no other files have it.
const entrySuffix = ".render"

// OpenCache opens the cache in a directory, which is created if it does not exist. limit is the size in bytes to which
// Trim reduces it.
func OpenCache(dir string, limit int64) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the render cache: %w", err)
	}
	return &Cache{dir: dir, limit: limit}, nil
}

// ShareFailures makes the processes of one scan share results of roots that do not render. An explanation may read files
// that are not among the needs of a root, so other scans do not use it.
func (c *Cache) ShareFailures(scan string) { c.scan = scan }

// cacheEntry is the stored form of a result.
type cacheEntry struct {
	Problem     *Problem // only for the processes of one scan
	Objects     [][]byte
	Unknown     map[int][]Unknown // by object index
	Roles       map[int]Role      // only of objects with another role than RoleObject
	Hooks       map[int]*Hook     // only of hooks
	Diagnostics []Diagnostic
	Lacks       *Lack
	Queries     []Query
	// AnyVersion is set when charts render to the same for all versions of Kubernetes that they allow, which are
	// KubeVersions.
	AnyVersion   bool
	KubeVersions string
}

// cacheKey is the key of an entry.
type cacheKey string

// keyFor returns the key of a root's result. anyVersion leaves out the version of Kubernetes.
func keyFor(root Root, in *Needs, opts Options, anyVersion bool) cacheKey {
	words := []string{cacheFormat, program(), opts.text(), string(root.Kind), root.Dir}
	words = append(words, root.Object.Group, root.Object.Kind, root.Object.Namespace, root.Object.Name, root.Cluster)
	if unit := root.Unit; unit != nil {
		if anyVersion {
			unit = unit.ofAnyVersion()
		}
		words = append(append(words, string(unit.decisive())), unit.words()...)
	}
	words = append(words, root.Files...)
	if in.Lacks != nil {
		words = append(append(words, in.Lacks.Why), in.Lacks.What...)
	}
	return newCacheKey(append(words, in.Trace.Entries()...)...)
}

// text returns the options that influence results.
func (o Options) text() string {
	return fmt.Sprint(o.LoadRestrictor, o.Limits.WithDefaults())
}

// newCacheKey returns the key for a list of words. Different lists have different keys.
func newCacheKey(words ...string) cacheKey {
	h := sha256.New()
	for _, w := range words {
		_, _ = fmt.Fprintf(h, "%d:%s", len(w), w) // writing to a hash never fails
	}
	return cacheKey(hex.EncodeToString(h.Sum(nil)))
}

func (c *Cache) path(key cacheKey) string {
	return filepath.Join(c.dir, string(key[:2]), string(key)+entrySuffix)
}

// load returns the stored result of a root; nil if there is none.
func (c *Cache) load(key cacheKey) *cacheEntry {
	var e cacheEntry
	if !c.read(key, &e) {
		return nil
	}
	return &e
}

// read decodes an entry; false if it is missing or damaged.
func (c *Cache) read(key cacheKey, into any) bool {
	name := c.path(key)
	data, err := os.ReadFile(name)
	if err != nil || len(data) < sha256.Size {
		return false
	}
	content := data[sha256.Size:]
	if sum := sha256.Sum256(content); !bytes.Equal(sum[:], data[:sha256.Size]) {
		return false
	}
	if gob.NewDecoder(bytes.NewReader(content)).Decode(into) != nil {
		return false
	}
	c.use(name)
	return true
}

// use marks an entry as used now, so that Trim deletes it later.
func (c *Cache) use(name string) {
	now := time.Now()
	if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > time.Hour {
		_ = os.Chtimes(name, now, now) // in a read-only cache, entries just age
	}
}

// store stores the result of a root.
func (c *Cache) store(key cacheKey, r *Result) {
	e := cacheEntry{Problem: r.Problem, Diagnostics: r.Diagnostics, Lacks: r.Lacks, Queries: r.Queries, Unknown: map[int][]Unknown{}, Roles: map[int]Role{}, Hooks: map[int]*Hook{}}
	if e.AnyVersion = r.ofAnyVersion(); e.AnyVersion {
		e.KubeVersions = r.KubeVersion.Allowed
	}
	for i, o := range r.Objects {
		e.Objects = append(e.Objects, o.JSON)
		if len(o.Unknown) > 0 {
			e.Unknown[i] = o.Unknown
		}
		if o.Role != RoleObject {
			e.Roles[i] = o.Role
		}
		if o.Hook != nil {
			e.Hooks[i] = o.Hook
		}
	}
	c.keep(key, &e, math.MaxInt)
}

// keep writes an entry, unless it is larger than most bytes. Failure returns the first error.
func (c *Cache) keep(key cacheKey, e any, most int) {
	var content bytes.Buffer
	err := gob.NewEncoder(&content).Encode(e)
	if err == nil && content.Len() <= most {
		err = c.write(c.path(key), content.Bytes())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = true
	if err != nil && c.failure == nil {
		c.failure = err
	}
}

func (c *Cache) write(name string, content []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*") // with mode 0600
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	_, err = f.Write(append(sum[:], content...))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Failure returns the first error of writing an entry; nil if there was none.
func (c *Cache) Failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

// Trim deletes the least recently used entries, if something was written and all entries together exceed the limit,
// until a tenth of the limit is free.
func (c *Cache) Trim() error {
	c.mu.Lock()
	written := c.written
	c.mu.Unlock()
	if !written {
		return nil
	}
	files, total, err := c.list()
	if err != nil {
		return fmt.Errorf("trim the render cache: %w", err)
	}
	if total <= c.limit {
		return nil
	}
	slices.SortFunc(files, func(a, b cachedFile) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if total <= c.limit-c.limit/10 {
			break
		}
		if err := os.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trim the render cache: %w", err)
		}
		total -= f.size
	}
	return nil
}

type cachedFile struct {
	name string
	size int64
	used time.Time
}

// list returns the entries, and removes temporary files of processes that were killed. Another process may trim at the
// same time.
func (c *Cache) list() (files []cachedFile, total int64, err error) {
	err = filepath.WalkDir(c.dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // was just deleted
		}
		switch {
		case strings.HasSuffix(name, entrySuffix):
			files = append(files, cachedFile{name, info.Size(), info.ModTime()})
			total += info.Size()
		case strings.HasPrefix(d.Name(), "new-") && time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(name)
		}
		return nil
	})
	return files, total, err
}

// cached renders a root using the cache.
func (r *Renderer) cached(root Root, do func() *Result) *Result {
	in := r.Needs(root)
	if in.Problem != nil {
		return do()
	}
	keys := []cacheKey{keyFor(root, in, r.opts, true)}
	if in.Charts {
		keys = append(keys, keyFor(root, in, r.opts, false))
	}
	own := keys[len(keys)-1]
	var failed cacheKey
	if scan := r.opts.Cache.scan; scan != "" {
		failed = newCacheKey(string(own), scan)
		keys = append(keys, failed)
	}
	for _, key := range keys {
		if e := r.opts.Cache.load(key); e != nil && (!e.AnyVersion || allows(e.KubeVersions, root.Unit.kubeVersion())) {
			return e.result(root, in)
		}
	}
	result := do()
	switch {
	case !in.Cover(result):
	case result.Problem != nil:
		if failed != "" && result.Problem.Locate == nil {
			r.opts.Cache.store(failed, result)
		}
	case result.ofAnyVersion():
		r.opts.Cache.store(keys[0], result)
	default:
		r.opts.Cache.store(own, result)
	}
	return result
}

// result returns the result of a root from its entry.
func (e *cacheEntry) result(root Root, in *Needs) *Result {
	result := &Result{Root: root, Trace: in.Trace, Problem: e.Problem, Diagnostics: e.Diagnostics, Lacks: e.Lacks, Queries: e.Queries}
	if e.AnyVersion {
		result.KubeVersion = &KubeVersionUse{Allowed: e.KubeVersions}
	}
	for i, data := range e.Objects {
		result.Objects = append(result.Objects, &Object{JSON: data, Index: i, Unknown: e.Unknown[i], Role: e.Roles[i], Hook: e.Hooks[i]})
	}
	return result
}
