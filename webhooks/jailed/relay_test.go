package jailed

import (
	"slices"
	"testing"
	"time"
)

// TestSlowProgress checks that a slow Progress does not block the child, receives the last report that
// came meanwhile, and nothing after the child has ended.
func TestSlowProgress(t *testing.T) {
	entered, release := make(chan string, 10), make(chan struct{})
	var told []int
	w := newMonitor(func(stage string, done, _ int) {
		told = append(told, done)
		entered <- stage
		<-release
	}, time.Hour)
	stage := func(name string, done int) *Message { return &Message{Stage: &StageMessage{name, done, 9}} }
	believe := func(messages ...*Message) {
		t.Helper()
		heard := make(chan error, 1)
		go func() {
			var err error
			for _, m := range messages {
				err = w.take(m)
			}
			heard <- err
		}()
		select {
		case err := <-heard:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the child has to wait")
		}
	}
	believe(stage("discover", 1))
	<-entered
	believe(&Message{Begin: &BeginMessage{1, []byte("app")}}, stage("render head", 2), stage("judge", 3), stage("locate", 4))
	if root, slow := w.slow(time.Now().Add(2 * time.Hour)); root != "app" || !slow {
		t.Errorf("the slow root is %q, %v", root, slow)
	}
	believe(&Message{End: &EndMessage{1}})
	if roots := w.suspects(); len(roots) > 0 {
		t.Errorf("at work: %q", roots)
	}
	close(release)
	w.end()
	if want := []int{1, 4}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
