package policy_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/unknown"
	"github.com/preadmit/preadmit/scanner/policy"
)

// FuzzUnknownValuesAgree generates scenes from a seed, like FuzzUpstreamAgrees, and makes some fields
// of the objects unknown: every decision about a request must then also be true with the values of
// the fields.
func FuzzUnknownValuesAgree(f *testing.F) {
	g := newGenerator(f)
	c := newComparison()
	for seed := range uint64(testall.Count(4, 120)) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		s := g.scene(seed)
		c.forget()
		st := c.stage(t, s)
		random := rand.New(rand.NewPCG(seed, 1))
		certain := 0
		for _, in := range s.requests {
			certain += agreesUnknown(t, st, in, random)
		}
		if len(s.requests) > 20 && certain == 0 {
			t.Log("nothing was certain")
		}
	})
}

// agreesUnknown compares the outcomes of a request with and without some of its values. It returns
// the number of decisions that were certain.
func agreesUnknown(t *testing.T, st *stage, in admission.ClientRequest, random *rand.Rand) int {
	t.Helper()
	cluster, engine, _ := st.judges(t, in)
	without := in
	without.Object, without.OldObject = hide(in.Object, random), hide(in.OldObject, random)
	was, refusal := evaluated(t, cluster, engine, in)
	now, refusalNow := evaluated(t, cluster, engine, without)
	about := func() string { return describe(in) + " without " + hidden(without.Object) + hidden(without.OldObject) }
	switch {
	case refusalNow != nil && refusal == nil:
		t.Errorf("%s is refused: %v", about(), refusalNow)
		return 0
	case now == nil || was == nil: // not known, or refused
		return 0
	}
	open := map[string]bool{}
	for _, i := range now.Indeterminate {
		open[i.Policy.Name] = true
	}
	for _, d := range now.Decisions {
		if !slices.ContainsFunc(was.Decisions, func(o policy.Decision) bool { return sameFailure(o, d) }) {
			t.Errorf("%s: policy %s, validation %d fails: %s", about(), d.Policy.Name, d.Validation, d.Message)
		}
	}
	for _, d := range was.Decisions {
		if !open[d.Policy.Name] && !slices.ContainsFunc(now.Decisions, func(o policy.Decision) bool { return sameFailure(o, d) }) {
			t.Errorf("%s: policy %s, validation %d passes; it fails: %s\n%s", about(), d.Policy.Name, d.Validation, d.Message, d.Expression)
		}
	}
	return len(now.Decisions)
}

// sameFailure compares decisions without the message, which may show an unknown value.
func sameFailure(a, b policy.Decision) bool {
	return a.Policy == b.Policy && a.Binding == b.Binding && a.Validation == b.Validation && a.Cause == b.Cause
}

// evaluated returns an outcome; nil with a refusal, or if the result is not known.
func evaluated(t *testing.T, cluster *admission.Cluster, engine *policy.Engine, in admission.ClientRequest) (*policy.Outcome, error) {
	t.Helper()
	req, _, err := cluster.Prepare(context.Background(), in)
	var refusal *apierrors.StatusError
	var dependsOn *unknown.Error
	switch {
	case errors.As(err, &refusal):
		return nil, refusal
	case errors.As(err, &dependsOn):
		return nil, nil
	case err != nil:
		return nil, nil // of an unknown kind, or never stored
	}
	out := engine.Evaluate(context.Background(), req)
	return &out, out.Refusal
}

// hide makes some fields of an object unknown.
func hide(o *admission.Object, random *rand.Rand) *admission.Object {
	if o == nil {
		return nil
	}
	var paths [][]string
	var walk func(value any, path []string)
	walk = func(value any, path []string) {
		if len(path) > 1 && (path[0] != "metadata" || path[1] == "labels" || path[1] == "annotations") {
			paths = append(paths, slices.Clone(path))
		}
		switch v := value.(type) {
		case map[string]any:
			for key, item := range v {
				walk(item, append(path, key))
			}
		case []any:
			for i, item := range v {
				walk(item, append(path, strconv.Itoa(i)))
			}
		}
	}
	walk(o.Content(), nil)
	slices.SortFunc(paths, slices.Compare)
	secret := admission.NewObject(o.Content())
	for range 1 + random.IntN(3) {
		if len(paths) > 0 {
			secret.Unknown = append(secret.Unknown, render.Unknown{Path: paths[random.IntN(len(paths))], Reason: "it is hidden"})
		}
	}
	return secret
}

func hidden(o *admission.Object) string {
	text := ""
	if o != nil {
		for _, f := range o.Unknown {
			text += unknown.FieldPath(f.Path) + " "
		}
	}
	return text
}
