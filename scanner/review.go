package scanner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apiserver "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/apply"
	"github.com/preadmit/preadmit/scanner/change"
	"github.com/preadmit/preadmit/scanner/gaps"
	"github.com/preadmit/preadmit/scanner/kinds"
	"github.com/preadmit/preadmit/scanner/lines"
	"github.com/preadmit/preadmit/scanner/mutation"
	"github.com/preadmit/preadmit/scanner/policy"
	"github.com/preadmit/preadmit/scanner/policy/secrets"
	"github.com/preadmit/preadmit/scanner/server"
	"github.com/preadmit/preadmit/scanner/target"
)

// review judges one pair.
type review struct {
	*target.RootReview
	target.Pair
	// from is the root at head, or at base if it is gone.
	from render.Root
	// user applies the object at head; was applied it at base.
	user, was user.Info
	// applier is the tool that applies the root; assumed is set if no configuration names it.
	applier apply.Applier
	assumed bool
	// versioned is set for an object of a unit with a changed chart version.
	versioned bool
	Capture
	// answered, if not nil, is called with the response to each request that is not a controller's.
	answered func(*review, *server.Verdict)
	out      outcome
	// storage caches the stored form of the old object while the pair is judged.
	storage *admission.Storage
}

// run judges the pair.
func (r *review) run(ctx context.Context) error {
	r.out.requests, r.storage = 1, new(admission.Storage)
	defer func() { r.storage = nil }()
	kind := r.Object().GroupVersionKind().GroupKind()
	r.noteReach(kind)
	switch {
	case kinds.IsPolicy(kind):
		return r.policy(ctx)
	case r.Same:
		return r.unchanged(ctx)
	}
	return r.changed(ctx)
}

// request returns the request of the pair.
func (r *review) request() admission.ClientRequest {
	request := admission.ClientRequest{Operation: r.Operation(), User: r.user, Object: r.Head, OldObject: r.Base, Applier: r.applier, Storage: r.storage}
	if request.Operation == apiserver.Create {
		request.OldObject, request.Storage = nil, nil
	}
	request.StoredMutator = r.Before.Mutator()
	return r.live(request)
}

// live returns the request with the old object from the cluster, if that was given.
func (r *review) live(request admission.ClientRequest) admission.ClientRequest {
	if r.Live != nil && request.Operation != apiserver.Create {
		request.OldObject, request.Live, request.Last = r.Live, true, request.OldObject
	}
	return request
}

// requestBefore returns the request for the base's version: an update without a change, a creation if
// the object is only ever created, or the deletion of the object that was deleted then.
func (r *review) requestBefore() admission.ClientRequest {
	request := admission.ClientRequest{Operation: apiserver.Update, User: r.was, Object: r.Base, OldObject: r.Base, Applier: r.applier, Storage: r.storage}
	switch {
	case r.Head == nil:
		request.Operation, request.Object, request.OldObject = apiserver.Delete, nil, r.Earlier
	case r.Generated:
		request.Operation, request.OldObject, request.Storage = apiserver.Create, nil, nil
	}
	request.StoredMutator = r.Before.Mutator()
	return r.live(request)
}

// changed judges an object that is created, updated or deleted: by the policies in force and, if
// they differ, by the proposed ones.
func (r *review) changed(ctx context.Context) error {
	if !r.applies() {
		return nil
	}
	again := r.chooseApplier()
	if again == always {
		r.out.requests = 0
		return r.recreate(ctx)
	}
	inForce, final, err := r.appliedVerdicts(ctx)
	if err != nil {
		return err
	}
	if again == whenRefused && (r.isImmutable(&inForce) || r.isImmutable(&final)) {
		return r.recreateRefused(ctx, inForce, final)
	}
	if r.mayBeGone(final) {
		r.capture(&final, string(r.Operation()), nil)
		r.indeterminate(gaps.Object, "", fmt.Sprintf("the API server would refuse it (%s), but after its ttlSecondsAfterFinished the cluster deletes the Job: if it is gone by then, it is created", final.Refusal.ErrStatus.Message))
		return r.instead(ctx, r.creation())
	}
	if r.Proposed != r.InForce {
		r.out.evaluations += final.Evaluations
	}
	r.out.evaluations += inForce.Evaluations
	before, err := r.judgeBefore(ctx, r.Before, &final)
	if err != nil {
		return err
	}
	r.noteReads(r.Proposed, &final, before)
	r.capture(&final, string(r.Operation()), nil)
	r.server(final, before)
	r.decisions(inForce, final, before)
	if r.Base != nil && r.Head != nil && !r.Resumed && final.Reached() {
		r.resolved(inForce, final, before)
	}
	return r.judgeCreated(ctx, decided{r.InForce, inForce}, decided{r.Proposed, final}, decided{r.Before, *before})
}

// judgeBefore judges the base's version of an object that the head also has. final is the verdict
// of the proposed policies on the head's version; nil if every policy has to be evaluated again.
func (r *review) judgeBefore(ctx context.Context, by *server.Server, final *server.Verdict) (*server.Verdict, error) {
	if r.Base == nil || r.Head == nil && r.Earlier == nil || r.Resumed {
		return &server.Verdict{}, nil
	}
	if by != r.Proposed {
		final = nil
	}
	v, err := by.ReviewBeside(ctx, r.requestBefore(), final)
	if err != nil || v.Refusal == nil || r.applier != apply.Replace && r.applier != apply.LenientReplace {
		return &v, err
	}
	// A PUT of an unchanged object may be refused for fields that only the stored object has. No
	// such request was sent: the base's version was created.
	request := r.requestBefore()
	request.Operation, request.OldObject, request.Live = apiserver.Create, nil, false
	created, err := by.Review(ctx, request)
	if err != nil || created.Refusal != nil {
		return &v, err
	}
	return &created, nil
}

// unchanged judges an object that did not change by the proposed policies that reach it.
func (r *review) unchanged(ctx context.Context) error {
	if why := r.notApplied(r.Proposed, r.Head); why != nil {
		r.Key.Namespace = ""
		r.indeterminate(gaps.Object, "", "the object is not applied as it is, so no policy judges it: "+why.ErrStatus.Message)
		return nil
	}
	names, all := r.PoliciesFor(r.Pair)
	proposed, before := r.Proposed, r.Before
	if !all {
		proposed, before = proposed.Only(names), before.Only(names)
	}
	final, err := proposed.Review(ctx, r.request())
	if err != nil {
		return err
	}
	r.out.evaluations += final.Evaluations
	r.capture(&final, string(r.Operation()), nil)
	was := &server.Verdict{}
	if all || len(final.Decisions) > 0 {
		if was, err = r.judgeBefore(ctx, before, nil); err != nil {
			return err
		}
	}
	if all { // the server may decode the object differently, or policies may mutate it
		r.server(final, was)
	} else if final.Unknown != nil {
		r.indeterminate(gaps.Object, "", final.Unknown.Error())
	} else if final.Refusal != nil {
		r.indeterminate(gaps.Object, "", "the API server would not take the object as it is, so no policy judges it: "+final.Refusal.ErrStatus.Message)
	}
	inForce, err := r.byOtherUser(ctx, names, all, final)
	if err != nil {
		return err
	}
	r.decisions(inForce, final, was)
	return r.judgeCreatedAgain(ctx, decided{proposed, final}, decided{before, *was})
}

// byOtherUser returns the verdict of the policies in force on an object that did not change, but that another user
// applies. final is the verdict of the proposed policies. The verdict is empty if the same user applies it.
func (r *review) byOtherUser(ctx context.Context, names map[string]bool, all bool, final server.Verdict) (server.Verdict, error) {
	switch {
	case !r.OtherUser:
		return server.Verdict{}, nil
	case r.InForce == r.Proposed:
		return final, nil
	case all:
		return r.InForce.Review(ctx, r.request())
	}
	return r.InForce.Only(names).Review(ctx, r.request())
}

// server reports the API server's own part of a verdict: a refusal, warnings, or why it is unknown.
func (r *review) server(final server.Verdict, before *server.Verdict) {
	if final.Unknown != nil {
		r.indeterminate(gaps.Object, "", final.Unknown.Error())
		return
	}
	if final.NeverStored != nil {
		r.indeterminate(gaps.Object, "", final.NeverStored.Error())
	}
	if r.Operation() == apiserver.Delete {
		if final.Refusal != nil { // for example for namespaces of the system
			r.add(refusedBy(r.Pair, &final), false)
		}
		return
	}
	if final.Refusal != nil {
		if why := gaps.Leftover(r.Head); why != "" {
			r.indeterminate(gaps.Object, "", fmt.Sprintf("the API server would refuse it (%s), but %s", final.Refusal.ErrStatus.Message, why))
			return
		}
		existed := before.Refusal != nil && before.Refusal.ErrStatus.Message == final.Refusal.ErrStatus.Message
		f := refusedBy(r.Pair, &final)
		if !existed && r.Base != nil && r.Head != nil && len(final.Mutations) == 0 {
			f.Fields = lines.NarrowToChange(f.Fields, r.Base.Content(), r.Head.Content())
		}
		if r.Same {
			f.Governing = sourcesOf(final.Mutations)
		}
		r.add(f, existed)
	}
	r.notStored(final, before)
	now, then := unique(slices.Concat(final.Dropped, final.Warnings)), unique(slices.Concat(before.Dropped, before.Warnings))
	for _, w := range now {
		switch existed := slices.Contains(then, w); {
		case isLoss(w):
			r.add(warned(r.Pair, w), existed)
		case !existed:
			r.remark(warned(r.Pair, w))
		}
	}
	if final.Refusal == nil {
		for _, w := range then {
			if isLoss(w) && !slices.Contains(now, w) {
				r.resolve(warned(r.Pair, w))
			}
		}
	}
}

// notStored reports what happens after admission to a request that no policy denies: refusals by
// ResourceQuotas and by etcd.
func (r *review) notStored(final server.Verdict, before *server.Verdict) {
	switch {
	case slices.ContainsFunc(final.Decisions, func(d policy.Decision) bool { return d.Denies() }):
	case final.QuotaUnknown != nil:
		r.indeterminate(gaps.Object, "", final.QuotaUnknown.Error())
	case final.NotStored != nil:
		r.add(refused(r.Pair, final.NotStored), before.NotStored != nil && quotaMessage(before.NotStored) == quotaMessage(final.NotStored))
	}
}

// quotaMessage returns the message of a quota without the name of the object: the names of Pods that
// controllers create are random.
func quotaMessage(refusal *apierrors.StatusError) string {
	if _, words, ok := strings.Cut(refusal.ErrStatus.Message, " is forbidden: "); ok {
		return words
	}
	return refusal.ErrStatus.Message
}

// decisions reports the decisions of policies, equal ones once.
func (r *review) decisions(inForce, final server.Verdict, before *server.Verdict) {
	cluster := r.InForce.Cluster()
	failed := failedOf(before.Decisions, cluster)
	by := report.PoliciesInForce
	reported := []policy.Decision{}
	for _, v := range []server.Verdict{inForce, final} {
		for _, d := range v.Decisions {
			if !policy.ContainsDecision(reported, d) {
				reported = append(reported, d)
				r.add(r.decide(d, by, v.Mutations), failed.existed(d, cluster))
			}
		}
		by = report.PoliciesProposed
	}
	for _, i := range unclearOf(inForce, final) {
		r.indeterminate(gaps.Policy, i.policy, i.why)
	}
}

// unclear is a policy that could not be evaluated, and why.
type unclear struct{ policy, why string }

// unclearOf returns the indeterminate policies of verdicts, each once.
func unclearOf(verdicts ...server.Verdict) []unclear {
	all := []unclear{}
	for _, v := range verdicts {
		for _, i := range v.Indeterminate {
			all = append(all, unclear{i.Policy.Name, i.Why})
		}
	}
	return unique(all)
}

// resolved reports decisions against the base's version that the head's version no longer has.
func (r *review) resolved(inForce, final server.Verdict, before *server.Verdict) {
	cluster := r.InForce.Cluster()
	failing := failedOf(slices.Concat(inForce.Decisions, final.Decisions), cluster)
	open := map[string]bool{}
	for _, i := range unclearOf(inForce, final) {
		open[i.policy] = true
	}
	for _, d := range before.Decisions {
		if !failing.stillFails(d, cluster) && !open[d.Policy.Name] {
			r.resolve(r.decide(d, report.PoliciesInForce, before.Mutations))
		}
	}
}

// decide converts a decision into a finding with the param's namespace as in the cluster. changes
// are the mutations of the object by policies.
func (r *review) decide(d policy.Decision, by report.PolicySet, changes []mutation.Write) lines.Finding {
	f := decision(r.Pair, d, by)
	f.Mutations = [][]mutation.Write{changes}
	if f.Param != nil {
		f.Param.Namespace = r.InForce.Cluster().Key(d.Param).Namespace
	}
	if r.Same {
		f.Governing = append(r.governing(d), sourcesOf(changes)...)
	}
	return f
}

func (r *review) add(f lines.Finding, existed bool) {
	f.Root, f.Status = r.Root.String(), report.StatusNew
	if existed {
		f.Status = report.StatusExisting
	}
	r.setRequest(&f, r.Proposed, r.request())
	r.out.findings = append(r.out.findings, f)
}

// setRequest sets the request and the server of a finding: for decisions of policies in force that is
// the server in force.
func (r *review) setRequest(f *lines.Finding, by *server.Server, request admission.ClientRequest) {
	if f.Policies == report.PoliciesInForce && f.Status != report.StatusResolved && f.Policy != "" {
		by = r.InForce
	}
	request.Storage = nil
	f.Server, f.Request = by, &request
}

// remark adds a warning without effect on the verdict.
func (r *review) remark(f lines.Finding) {
	f.Root = r.Root.String()
	r.out.remarks = append(r.out.remarks, f)
}

// resolve adds a resolved finding. It is about the base's version, which may have been in another
// root.
func (r *review) resolve(f lines.Finding) {
	f.Root, f.Status, f.Subject = change.OriginOf(r.Base).Root.String(), report.StatusResolved, r.Base
	r.setRequest(&f, r.Before, r.requestBefore())
	r.out.findings = append(r.out.findings, f)
}

func (r *review) indeterminate(kind render.GapKind, by, why string) {
	why = secrets.ConcealFor(why, r.Base, r.Head, r.Live)
	r.out.gaps = append(r.out.gaps, gaps.Gap{
		Gap:    render.Gap{Kind: kind, Root: r.Root, Why: why, Identity: why},
		Object: r.Object(), Key: r.Key, Policy: by,
	})
}

func unique[T comparable](list []T) []T {
	out := []T{}
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
