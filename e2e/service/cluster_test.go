package service

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/preadmit/preadmit/internal/freeport"
)

// TestCluster runs three replicas with three NATS servers, kills one of each at random
// times during pushes, and waits until the others are idle: nothing is lost or done twice.
// Then it starts the killed ones again and kills others. PREADMIT_CLUSTER_RUNS sets the
// number of runs.
func TestCluster(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	n := seed(t)
	tr := newTraffic(w, n, 3)
	c := &cluster{w: w, tr: tr, random: rand.New(rand.NewPCG(n, 2))}
	c.startNATS()
	c.startFront()
	for range 3 {
		c.dirs, c.replicas = append(c.dirs, t.TempDir()), append(c.replicas, nil)
		c.launch(len(c.dirs) - 1)
	}
	for _, r := range c.replicas {
		r.ready()
	}
	for i := range number(t, "PREADMIT_CLUSTER_RUNS", 2) {
		c.run(i)
	}
	for i, r := range c.replicas {
		if code := r.stop(); code != 0 {
			t.Errorf("replica %d ended with %d", i, code)
		}
	}
	t.Logf("people: %s; %d check runs, %d heads with more than one", tr, len(w.hub.CheckRuns()), tr.doubled())
}

// cluster is three NATS servers and three replicas.
type cluster struct {
	w        *env
	tr       *traffic
	random   *rand.Rand
	nodes    []*node
	dirs     []string // the directories of the replicas
	replicas []*replica
	// front is the URL that forwards deliveries to goals in turn.
	front string
	goals [3]atomic.Pointer[url.URL]
	turn  atomic.Uint64
}

// node is a NATS server.
type node struct {
	listen, config string
	cmd            *exec.Cmd
}

// startNATS starts the servers.
func (c *cluster) startNATS() {
	c.w.t.Helper()
	var routes, ports []string
	for range 3 {
		port := freeport.Address(c.w.t)
		ports, routes = append(ports, port), append(routes, fmt.Sprintf("%q", "nats://"+port))
	}
	for i := range 3 {
		dir := c.w.t.TempDir()
		n := &node{listen: freeport.Address(c.w.t), config: filepath.Join(dir, "nats.conf")}
		c.w.write(n.config, fmt.Sprintf(`server_name: node-%d
listen: %q
jetstream { store_dir: %q, sync_interval: always }
cluster { name: test, listen: %q, routes: [%s] }
log_file: %q
`, i, n.listen, dir, ports[i], strings.Join(routes, ", "), filepath.Join(dir, "log")))
		c.nodes = append(c.nodes, n)
		c.startNode(n)
		c.w.t.Cleanup(n.kill)
	}
}

func (c *cluster) startNode(n *node) {
	c.w.t.Helper()
	n.cmd = exec.Command(program(c.w.t, "nats-server"), "-c", n.config)
	c.w.must(n.cmd.Start())
}

// kill ends a server at once.
func (n *node) kill() {
	_ = n.cmd.Process.Kill() // it may have ended
	_ = n.cmd.Wait()         // always an error
}

// startFront forwards deliveries to the replicas in turn, whether they run or not.
func (c *cluster) startFront() {
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(c.goals[c.turn.Add(1)%3].Load()) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	server := httptest.NewServer(proxy)
	c.w.t.Cleanup(server.Close)
	c.front = server.URL
}

// launch starts a replica.
func (c *cluster) launch(i int) {
	c.w.t.Helper()
	var urls []string
	for _, n := range c.nodes {
		urls = append(urls, "nats://"+n.listen)
	}
	c.replicas[i] = c.w.launch(c.dirs[i], options{
		"NATS_URL": strings.Join(urls, ","), "RECONCILE_EVERY": "2s", "SCAN_CONCURRENCY": "1",
	})
	goal, err := url.Parse(c.replicas[i].url)
	c.w.must(err)
	c.goals[i].Store(goal)
	c.w.app.SetWebhook(c.front+"/webhooks/github", c.w.app.WebhookSecret())
}

// run kills a server and a replica, and starts them again later.
func (c *cluster) run(i int) {
	c.w.t.Helper()
	c.w.hub.Forget() // the recorded requests
	n, r := c.random.IntN(len(c.nodes)), c.random.IntN(len(c.replicas))
	kills := []func(){c.nodes[n].kill, c.replicas[r].kill}
	first := c.random.IntN(2)
	stop := c.tr.begin(400 * time.Millisecond)
	time.Sleep(moment(c.random, 6*time.Second))
	kills[first]()
	stage := stageOf(c.w.hub.Requests())
	time.Sleep(moment(c.random, time.Second))
	kills[1-first]()
	time.Sleep(moment(c.random, 4*time.Second))
	stop()
	began := time.Now()
	doing := fmt.Sprintf("run %d, killed node %d and replica %d (node first: %t), at %q", i, n, r, first == 0, stage)
	c.w.within(calm, doing+": what is wrong", func() []string { return c.wrong(r) })
	c.w.t.Logf("%s; calm after %s; %s", doing, time.Since(began).Round(time.Millisecond), c.tr)
	c.startNode(c.nodes[n])
	c.launch(r)
	c.replicas[r].ready()
	c.w.within(calm, doing+", now back: what is wrong", func() []string { return c.wrong(-1) })
}

// wrong returns the mistakes, according to the running replicas.
func (c *cluster) wrong(dead int) []string {
	out := c.tr.wrong()
	for i, r := range c.replicas {
		if i == dead {
			continue
		}
		out = append(out, r.busy()...)
		if status, text := r.get("/readyz"); status != http.StatusOK {
			out = append(out, fmt.Sprintf("/readyz of replica %d: %d %s", i, status, text))
		}
	}
	return out
}
