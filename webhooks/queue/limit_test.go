package queue

import (
	"errors"
	"testing"
)

// TestLimitAcrossReplicas checks that two replicas that claim different jobs of an installation at the
// same time do not exceed PerInstallation.
func TestLimitAcrossReplicas(t *testing.T) {
	t.Parallel()
	replicas := pair(t, Config{PerInstallation: 1})
	var jobs []*pendingJob
	for i, q := range replicas {
		j, _, err := q.Enqueue(t.Context(), Job{Kind: KindPull, Installation: 1, Repository: 1, Pull: i + 1})
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, &pendingJob{entry: q.jobs.at(j.Subject())})
	}
	claim, err := replicas[0].claim(t.Context(), jobs[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replicas[1].claim(t.Context(), jobs[1]); !errors.Is(err, errTaken) {
		t.Fatal("one too many:", err)
	}
	if err := claim.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := replicas[1].Next(t.Context())
	if err != nil || c.Attempt != 1 {
		t.Errorf("%v; the attempt that was taken back counts", err)
	}
}
