package sandbox

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// quotaKind is the kind of ResourceQuotas.
var quotaKind = schema.GroupKind{Kind: "ResourceQuota"}

// counted waits until the usage of the loaded ResourceQuotas is known. It stops waiting, without an
// error, if the usage of one stays unknown: the server then refuses each object that it would count,
// and has had as long to count for the others.
func (l *Loader) counted(ctx context.Context, out *Loaded) error {
	for i := range out.Results {
		r := &out.Results[i]
		if r.Object.GroupVersionKind().GroupKind() != quotaKind || !r.Answer.Allowed || r.Kept || r.Again {
			continue
		}
		at, err := l.place(r.Applied)
		if err != nil {
			continue
		}
		err = until(ctx, "the usage of "+r.Key.String(), func(ctx context.Context) (bool, error) {
			var q corev1.ResourceQuota
			err := l.client.get(ctx, at.path, &q)
			return err == nil && l.hasUsage(&q), err
		})
		if late := new(lateError); errors.As(err, &late) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasUsage reports whether the status of a quota has the usage of all limited resources that the
// server serves.
func (l *Loader) hasUsage(q *corev1.ResourceQuota) bool {
	for name, limit := range q.Spec.Hard {
		if resource, ok := strings.CutPrefix(string(name), "count/"); ok {
			if _, err := l.mapper.KindFor(schema.ParseGroupResource(resource).WithVersion("")); err != nil {
				continue
			}
		}
		if _, ok := q.Status.Used[name]; !ok || limit.Cmp(q.Status.Hard[name]) != 0 {
			return false
		}
	}
	return true
}

// quotaLag is how long the server may take to notice the usage in the status of a quota.
const quotaLag = 2 * time.Second

// do calls the API. It repeats the call while the server does not know the usage of a quota.
func (l *Loader) do(ctx context.Context, q call) (*answer, error) {
	deadline := time.Now().Add(quotaLag)
	for {
		a, err := l.client.do(ctx, q)
		if err != nil || !uncounted(a) || time.Now().After(deadline) {
			return a, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(waitEvery):
		}
	}
}

// uncounted reports whether an answer says that the usage of a quota is not known.
func uncounted(a *answer) bool {
	if a.Code != http.StatusForbidden {
		return false
	}
	s := a.status()
	return s.Reason == metav1.StatusReasonForbidden && strings.Contains(s.Message, ": status unknown for quota: ")
}
