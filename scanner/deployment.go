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

// Deployment is what of a tree is applied to its clusters, with the answers that a scan of it
// expects: what a real API server is given, to hold both against each other.
type Deployment struct {
	// Clusters are the targets, in their order.
	Clusters []Deployed
	// Unrendered are the roots of which not all objects are known.
	Unrendered []Unrendered
	// Report is that of the scan.
	Report *report.Report

	mu      sync.Mutex
	answers map[*target.Target][]Applied
}

// Unrendered is a root that does not render, or not all of it.
type Unrendered struct {
	Root     string
	Location report.Location
	Why      string
	// Partly is set when the objects that are known are there.
	Partly bool
	// Judged is set for a root that was asked about. Of another one, what decides is not known.
	Judged bool
}

// Deployed is what a cluster is given.
type Deployed struct {
	// Name is that of the target, of its cluster, or of both; empty if there is one for all roots.
	Name string
	// Applied are the objects that are judged, in the order of their keys; of an object that
	// several roots define, one after the other.
	Applied []Applied
	// Given are other objects that decide how those are judged, of which no answer is known: what was
	// given beside the tree, and what roots have that were not asked about.
	Given []Applied
}

// Applied is an object as its deployer applies it to an empty cluster, and the answer that is
// expected.
type Applied struct {
	Object *admission.Object
	// Key is what it is known by in the cluster.
	Key     admission.Key
	Root    string
	User    user.Info
	Applier apply.Applier
	// Decides is set when the object decides how others are judged.
	Decides bool
	// Answer is what the server says; it is certain unless Open says why not.
	Answer policy.Verdict
	Open   []string
	// Denials are the answers of all policies that deny: a server returns one of them, in no order.
	Denials []policy.Verdict
	// Told has, by the texts of Answer and Denials that policies made, what may be shown of them:
	// without what they quote of a Secret.
	Told map[string]string
}

// Deploy renders the head of a change and judges what is applied, all of it as created. The base is
// not looked at. The error is that of Scan.
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

// unrendered returns the roots of the head of which not all objects are known.
func (s *scan) unrendered() []Unrendered {
	var all []Unrendered
	add := func(gap render.Gap, partly bool) {
		all = append(all, Unrendered{gap.Root.String(), change.LocationOf(gap.Place(), change.Head), gap.Why, partly, s.Selected(gap.Root)})
	}
	for _, root := range s.Head.Found.Roots {
		r := s.Head.Roots[root.RootID]
		if r == nil {
			continue // nothing of it is loaded
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

// answered returns what notes the answers to the requests of a target; nil when they are not
// collected.
func (s *scan) answered(t *target.Target) func(*review, *server.Verdict) {
	if s.deployment == nil {
		return nil
	}
	return func(r *review, v *server.Verdict) {
		if r.Head == nil {
			return // a hook that is deleted: its creation is another request
		}
		a := Applied{
			Object: r.Head, Key: r.Key, Root: r.Root.String(), User: r.user, Applier: r.applier,
			Answer: v.Response(), Open: v.Open(), Denials: v.Denials(), Told: v.Told(),
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

// chosenBy returns the name by which a target is chosen.
func chosenBy(t *target.Target) string {
	if t.Name == "" || t.Cluster == "" {
		return t.Name + t.Cluster
	}
	return t.Name + "/" + t.Cluster
}
