package engine

import (
	"context"
	"text/template"
	"time"
)

// ChanceFunctions are the functions that the engine has in place of those of chance, for
// another engine.
func ChanceFunctions(seed string, now time.Time) template.FuncMap {
	r := newRun(context.Background(), New(), Options{Seed: seed, Now: now})
	return r.chance.functions()
}
