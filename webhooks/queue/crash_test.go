package queue_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// crashRounds is how often TestCrash kills a process; 0 is a few times, and 30 in a run of
// all tests.
var crashRounds = flag.Int("crash-rounds", 0, "how often TestCrash kills a process")

// crashDir in the environment makes the test binary the process that TestCrash kills.
const crashDir = "PREADMIT_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		fmt.Println("ended:", crashing(dir, os.Getenv("PREADMIT_TEST_CRASH_ROUND")))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// crashing enqueues and works until it is killed, and prints each step after it was done.
func crashing(dir, round string) error {
	ctx := context.Background()
	q, err := queue.Open(ctx, crashConfig(dir))
	if err != nil {
		return err
	}
	fmt.Println("opened")
	for range 3 {
		go func() {
			for {
				c, err := q.Next(ctx)
				if err != nil {
					return
				}
				fmt.Println("begin", c.Job.ID)
				time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond)
				fmt.Println("end", c.Job.ID)
				fmt.Println(crashEnd(ctx, c), c.Job.ID)
			}
		}()
	}
	for i := 0; ; i++ {
		j := pull(int64(i%3+1), i%40+1)
		j.ID = fmt.Sprintf("%s-%d", round, i)
		j.Delivery = j.ID
		if _, _, err := q.Enqueue(ctx, j); err != nil {
			return err
		}
		fmt.Println("enqueued", j.ID, j.Subject())
		if err := q.Remember(ctx, j.Delivery, "x"); err != nil {
			return err
		}
	}
}

func crashConfig(dir string) queue.Config {
	return queue.Config{Dir: dir, Attempts: 1000, Backoff: []time.Duration{time.Millisecond}}
}

// crashEnd ends a claim in one of the possible ways.
func crashEnd(ctx context.Context, c *queue.Claim) string {
	var err error
	outcome := "done"
	switch n := rand.IntN(10); {
	case n == 0:
		outcome = "buried"
		err = c.Bury(ctx, errors.New("x"))
	case n == 1:
		outcome = "retry"
		_, err = c.Retry(ctx, errors.New("x"))
	default:
		err = c.Done(ctx)
	}
	if err != nil {
		return "failed: " + err.Error()
	}
	return outcome
}

// TestCrash kills a process that enqueues and works, again and again, and then checks every job that
// was stored.
func TestCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	subjects := map[string]string{} // of stored jobs
	var order []string
	ended := 0
	rounds := cmp.Or(*crashRounds, testall.Count(5, 30))
	for round := range rounds {
		for _, line := range crash(t, dir, round) {
			word, rest, _ := strings.Cut(line, " ")
			switch id, subject, _ := strings.Cut(rest, " "); word {
			case "enqueued":
				subjects[id] = subject
				order = append(order, id)
			case "done", "buried":
				ended++
			case "opened", "begin", "end", "retry":
			default:
				t.Errorf("round %d: %s", round, line)
			}
		}
	}
	if len(order) < rounds || ended == 0 {
		t.Fatalf("%d jobs, %d ended: too few to say anything", len(order), ended)
	}
	handed := checkCrashed(t, dir, subjects, order)
	t.Logf("%d kills: %d jobs stored, %d ended before a kill, %d handed out after the last", rounds, len(order), ended, handed)
}

// crash runs the process and kills it at some moment; it returns what the process printed.
func crash(t *testing.T, dir string, round int) []string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprint("PREADMIT_TEST_CRASH_ROUND=", round))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	var lines []string
	busy := map[string]bool{}
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		line := scanner.Text()
		lines = append(lines, line)
		word, id, _ := strings.Cut(line, " ")
		switch word {
		case "opened":
			time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		case "begin":
			if busy[id] {
				t.Errorf("job %s was handed to two", id)
			}
			busy[id] = true
		case "end":
			delete(busy, id)
		}
	}
	_ = cmd.Wait() // killed
	return lines
}

// checkCrashed processes the remaining jobs, and reports stored jobs that were neither done nor
// superseded by a newer one of their subject.
func checkCrashed(t *testing.T, dir string, subjects map[string]string, order []string) (handed int) {
	t.Helper()
	start := time.Now()
	q := open(t, crashConfig(dir))
	opened := time.Since(start)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		stats, _ := q.Stats(ctx)
		if stats.Running > 0 {
			t.Errorf("%d jobs are held by dead processes", stats.Running)
		}
		if stats.Pending == 0 {
			break
		}
		c, err := q.Next(ctx)
		if err != nil {
			t.Fatal("working off what is left:", err)
		}
		handed++
		done(t, c)
	}
	t.Logf("opened in %s", opened)
	last := map[string]string{}
	for _, id := range order {
		last[subjects[id]] = id
	}
	dead := map[string]bool{}
	letters, _ := q.Dead(ctx, 0)
	for _, letter := range letters {
		if dead[letter.Job.ID] {
			t.Error("two dead letters of job", letter.Job.ID)
		}
		dead[letter.Job.ID] = true
	}
	for _, id := range order {
		s, err := q.Scan(ctx, id)
		switch {
		case err != nil:
			t.Errorf("job %s left no record: %v", id, err)
		case s.State == queue.Failed && (dead[id] || last[subjects[id]] != id), s.State == queue.Completed:
			// A process that was killed in Bury may have stored no letter; a newer job has replaced this one.
		case s.State == queue.Superseded && s.SupersededBy != "":
			// By a job that was stored later, even if its process died before it printed that.
		default:
			t.Errorf("job %s of %s (last %s): %+v", id, subjects[id], last[subjects[id]], s)
		}
	}
	for _, id := range last {
		if s, _ := q.Scan(ctx, id); s.State == queue.Superseded && subjects[s.SupersededBy] != "" {
			t.Errorf("the newest job %s was superseded by %s", id, s.SupersededBy)
		}
	}
	return handed
}
