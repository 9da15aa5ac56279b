package scanner

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// Deployment is what is applied from a tree to its clusters, with the responses that a scan expects.
// The sandbox loads it into a real API server and compares the responses.
type Deployment struct {
	// Clusters are the targets, in their order.
	Clusters []Deployed
	// Unrendered are the roots with objects that are not known.
	Unrendered []Unrendered
	// Report is the report of the scan.
	Report *report.Report

	mu      sync.Mutex
	answers map[*target.Target][]Applied
}

// Unrendered is a root that does not render completely.
type Unrendered struct {
	Root     string
	Location report.Location
	Why      string
	// Partly is set if the known objects are included.
	Partly bool
	// Judged is set if the root was selected to be judged. For other roots it is not known which
	// objects decide verdicts.
	Judged bool
}

// Deployed is the content of one cluster.
type Deployed struct {
	// Name is the name of the target, its cluster, or both; empty if all roots share one target.
	Name string
	// Applied are the judged objects, ordered by key. Objects with the same key from several roots
	// follow each other.
	Applied []Applied
	// Given are other objects that decide verdicts, without an expected response: the context, and
	// objects of roots that were not selected.
	Given []Applied
}

// Applied is an object as its deployer applies it to an empty cluster, and the expected response.
type Applied struct {
	Object *admission.Object
	// Key identifies the object in the cluster.
	Key     admission.Key
	Root    string
	User    user.Info
	Applier apply.Applier
	// Decides is set if the object decides how other objects are judged.
	Decides bool
	// Answer is the server's response. It is certain if Open is empty; otherwise Open has the reasons
	// why it is not.
	Answer policy.Verdict
	Open   []string
	// Denials are the responses of all policies that deny. A server returns one of them, in no fixed
	// order.
	Denials []policy.Verdict
	// Redacted maps texts of Answer and Denials that policies made to the texts that may be shown,
	// without the parts that quote a Secret.
	Redacted map[string]string
}

// Deploy renders the head of a change and judges every applied object as CREATE. It ignores the base.
// The errors are those of Scan.
func Deploy(ctx context.Context, in Input) (*Deployment, error) {
	in.Base = nil
	s := newScan(in)
	d := &Deployment{Report: s.report, answers: map[*target.Target][]Applied{}}
	s.deployment = d
	if _, err := s.run(ctx); err != nil {
		return nil, err
	}
	for _, t := range s.targets {
		d.Clusters = append(d.Clusters, d.deployed(t))
	}
	d.Unrendered = s.unrendered()
	return d, nil
}

// unrendered returns the roots of the head with objects that are not known.
func (s *scan) unrendered() []Unrendered {
	var all []Unrendered
	add := func(gap render.Gap, partly bool) {
		all = append(all, Unrendered{gap.Root.String(), change.LocationOf(gap.Place(), change.Head), gap.Why, partly, s.Selected(gap.Root)})
	}
	for _, root := range s.Head.Found.Roots {
		r := s.Head.Roots[root.RootID]
		if r == nil {
			continue // no object of it is loaded
		}
		if gap, ok := r.Gap(); ok {
			add(gap, false)
		}
		if r.Lacks != nil {
			add(r.Lacks.Gap(root.RootID), true)
		}
	}
	for _, i := range s.report.Indeterminate {
		if i.What == string(render.GapJsonnet) {
			all = append(all, Unrendered{i.Root, *i.Location, i.Why, true, true})
		}
	}
	return all
}

// answered returns the function that records the responses to the requests of a target; nil if they
// are not collected.
func (s *scan) answered(t *target.Target) func(*review, *server.Verdict) {
	if s.deployment == nil {
		return nil
	}
	return func(r *review, v *server.Verdict) {
		if r.Head == nil {
			return // the deletion of a hook; its creation is another request
		}
		a := Applied{
			Object: r.Head, Key: r.Key, Root: r.Root.String(), User: r.user, Applier: r.applier,
			Answer: v.Response(), Open: v.Open(), Denials: v.Denials(), Redacted: v.Redacted(),
		}
		s.deployment.mu.Lock()
		defer s.deployment.mu.Unlock()
		s.deployment.answers[t] = append(s.deployment.answers[t], a)
	}
}

func (d *Deployment) deployed(t *target.Target) Deployed {
	c := Deployed{Name: chosenBy(t), Applied: d.answers[t]}
	slices.SortStableFunc(c.Applied, func(a, b Applied) int {
		return cmp.Or(strings.Compare(a.Key.String(), b.Key.String()), strings.Compare(a.Root, b.Root))
	})
	have := map[admission.Key]bool{}
	for i := range c.Applied {
		a := &c.Applied[i]
		have[a.Key] = true
		a.Decides = t.Head.Decides(a.Key, a.Object)
	}
	for _, o := range t.Head.Deciding() {
		if key := t.Head.Cluster.Key(o); !have[key] {
			c.Given = append(c.Given, Applied{Object: o, Key: key, User: t.User, Decides: true})
		}
	}
	return c
}

// chosenBy returns the name that selects a target.
func chosenBy(t *target.Target) string {
	if t.Name == "" || t.Cluster == "" {
		return t.Name + t.Cluster
	}
	return t.Name + "/" + t.Cluster
}
