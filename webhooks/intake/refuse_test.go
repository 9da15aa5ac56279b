package intake

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// ping is a payload of the event ping.
const ping = `{"zen":"Responsive is better than fast."}`

// TestSignature checks GitHub's own example, from "Validating webhook deliveries".
func TestSignature(t *testing.T) {
	t.Parallel()
	const header = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	d := open(t, nil)
	r := d.request("ping", uuid.NewString(), []byte("Hello, World!"))
	r.Header.Set("X-Hub-Signature-256", header)
	if status, text := d.send(r); status != http.StatusOK || text != "ignored: pong\n" {
		t.Errorf("answered %d %s", status, text)
	}
	r = d.request("ping", uuid.NewString(), []byte("Hello, World?"))
	r.Header.Set("X-Hub-Signature-256", header)
	if status, _ := d.send(r); status != http.StatusUnauthorized {
		t.Errorf("answered %d to another body of the same length", status)
	}
}

// TestRefused checks that invalid requests are rejected, and cause no job.
func TestRefused(t *testing.T) {
	t.Parallel()
	guid := uuid.NewString()
	weak := hmac.New(sha1.New, []byte(secret))
	weak.Write([]byte(ping))
	sha1Sum := "sha1=" + hex.EncodeToString(weak.Sum(nil))
	for _, test := range []struct {
		name         string
		header, text string
		status       int
	}{
		{"no content type", "Content-Type", "", 415},
		{"a form", "Content-Type", "application/x-www-form-urlencoded", 415},
		{"text", "Content-Type", "text/plain", 415},
		{"JSON lines", "Content-Type", "application/json-seq", 415},
		{"two content types", "Content-Type", "application/json|application/json", 415},
		{"a broken content type", "Content-Type", "application/json; =", 415},
		{"another charset", "Content-Type", "application/json; charset=utf-16", 415},
		{"compressed", "Content-Encoding", "gzip", 415},
		{"no event", "X-GitHub-Event", "", 400},
		{"an event of another alphabet", "X-GitHub-Event", "Ping", 400},
		{"an event that goes on", "X-GitHub-Event", strings.Repeat("p", 65), 400},
		{"two events", "X-GitHub-Event", "ping|push", 400},
		{"no delivery", "X-GitHub-Delivery", "", 400},
		{"a delivery that is a number", "X-GitHub-Delivery", "12345", 400},
		{"a GUID in braces", "X-GitHub-Delivery", "{" + guid + "}", 400},
		{"a GUID without hyphens", "X-GitHub-Delivery", strings.ReplaceAll(guid, "-", ""), 400},
		{"a GUID with other letters", "X-GitHub-Delivery", guid[:35] + "*", 400},
		{"two deliveries", "X-GitHub-Delivery", guid + "|" + uuid.NewString(), 400},
		{"no signature", "X-Hub-Signature-256", "", 401},
		{"another secret's", "X-Hub-Signature-256", sign("another", []byte(ping)), 401},
		{"the empty secret's", "X-Hub-Signature-256", sign("", []byte(ping)), 401},
		{"another body's", "X-Hub-Signature-256", sign(secret, []byte(ping+" ")), 401},
		{"without the algorithm", "X-Hub-Signature-256", sign(secret, []byte(ping))[7:], 401},
		{"another algorithm's name", "X-Hub-Signature-256", "sha512=" + sign(secret, []byte(ping))[7:], 401},
		{"SHA-1 in its place", "X-Hub-Signature-256", sha1Sum, 401},
		{"half of it", "X-Hub-Signature-256", sign(secret, []byte(ping))[:39], 401},
		{"no digits", "X-Hub-Signature-256", "sha256=" + strings.Repeat("x", 64), 401},
		{"no digits at all", "X-Hub-Signature-256", "sha256=", 401},
		{"two signatures", "X-Hub-Signature-256", sign(secret, []byte(ping)) + "|" + sign("x", []byte(ping)), 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := open(t, nil)
			r := d.request("ping", guid, []byte(ping))
			r.Header.Set("X-Hub-Signature", sha1Sum) // which GitHub still sends
			r.Header.Del(test.header)
			for value := range strings.SplitSeq(test.text, "|") {
				if value != "" {
					r.Header.Add(test.header, value)
				}
			}
			status, text := d.send(r)
			if status != test.status || !strings.HasPrefix(text, "refused: ") || len(d.queue.taken()) != 0 {
				t.Errorf("answered %d %s, want %d", status, text, test.status)
			}
		})
	}
}

// TestMethod checks that only POST is accepted.
func TestMethod(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		r := d.request("ping", uuid.NewString(), []byte(ping))
		r.Method = method
		if status, _ := d.send(r); status != http.StatusMethodNotAllowed {
			t.Errorf("%s: answered %d", method, status)
		}
	}
}

// TestContentTypes checks the accepted content types of JSON.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	for _, content := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"} {
		r := d.request("ping", uuid.NewString(), []byte(ping))
		r.Header.Set("Content-Type", content)
		if status, text := d.send(r); status != http.StatusOK {
			t.Errorf("%s: answered %d %s", content, status, text)
		}
	}
}

// TestSecrets checks that each current secret is accepted, and an empty one never.
func TestSecrets(t *testing.T) {
	t.Parallel()
	var present [][]byte
	d := open(t, nil, func(c *Config) { c.Secrets = func() [][]byte { return present } })
	for _, test := range []struct {
		name    string
		secrets []string
		signed  string
		status  int
	}{
		{"the present one", []string{"new", "old"}, "new", 200},
		{"the previous one", []string{"new", "old"}, "old", 200},
		{"one that was", []string{"new"}, "old", 401},
		{"an empty one beside another", []string{"", "new"}, "", 401},
		{"the other one beside an empty one", []string{"", "new"}, "new", 200},
		{"only an empty one", []string{""}, "", 503},
		{"none", nil, "", 503},
	} {
		present = nil
		for _, s := range test.secrets {
			present = append(present, []byte(s))
		}
		r := d.request("ping", uuid.NewString(), []byte(ping))
		r.Header.Set("X-Hub-Signature-256", sign(test.signed, []byte(ping)))
		if status, text := d.send(r); status != test.status {
			t.Errorf("%s: answered %d %s, want %d", test.name, status, text, test.status)
		}
	}
}

// opened returns a minimal payload that causes a job.
func opened(pull int) []byte {
	return fmt.Appendf(nil, `{"action":"opened","installation":{"id":1},
		"repository":{"id":2,"name":"r","owner":{"login":"o"}},
		"pull_request":{"number":%d,"head":{"sha":"%s"},"base":{"sha":"%s"}}}`, pull, newHead, oldHead)
}

// TestOddPayloads checks that invalid JSON is rejected, and JSON of an unexpected shape is ignored;
// neither causes a job or a crash.
func TestOddPayloads(t *testing.T) {
	t.Parallel()
	fine := string(opened(7))
	change := func(from, to string) string {
		changed := strings.Replace(fine, from, to, 1)
		if changed == fine {
			t.Fatalf("there is no %s to change", from)
		}
		return changed
	}
	const number, id = `"number":7`, `"id":2`
	deep := strings.Repeat("[", 100_000)
	for _, test := range []struct {
		name, body string
		status     int
	}{
		{"fine", fine, 202},
		{"nothing", "", 400},
		{"no JSON", "Hello", 400},
		{"cut", fine[:100], 400},
		{"more after it", fine + "{}", 400},
		{"100,000 levels", deep, 400},
		{"100,000 levels, closed, in a field", change(number, number+`,"x":`+deep+strings.Repeat("]", 100_000)), 400},
		{"a control character", change(`"o"`, "\"o\x00\""), 400},
		{"null", "null", 200},
		{"a list", "[]", 200},
		{"a word", `"opened"`, 200},
		{"an empty object", "{}", 200},
		{"the number twice, the last a word", change(number, number+`,"number":"x"`), 200},
		{"the number twice", change(number, `"number":"x",`+number), 200},
		{"another action beside it", change(`"opened"`, `"opened","action":"labeled"`), 200},
		{"a number of 2^63", change(number, `"number":9223372036854775808`), 200},
		{"a number beyond floats", change(number, `"number":1e400`), 200},
		{"a number with a fraction", change(number, `"number":7.5`), 200},
		{"a number of a million digits", change(number, `"number":`+strings.Repeat("7", 1_000_000)), 200},
		{"a negative number", change(number, `"number":-7`), 200},
		{"no number", change(number, `"number":null`), 200},
		{"an id beyond floats", change(id, `"id":1e400`), 200},
		{"an id of 2^63", change(id, `"id":9223372036854775808`), 200},
		{"a negative id", change(id, `"id":-2`), 200},
		{"an installation without id", change(`"id":1`, `"id":0`), 200},
		{"an installation that is a list", change(`{"id":1}`, `[1]`), 200},
		{"no repository", change(`{"id":2,"name":"r","owner":{"login":"o"}}`, "null"), 200},
		{"a name that is a path", change(`"r"`, `"../../o"`), 200},
		{"a name of two lines", change(`"r"`, `"r\n::error::x"`), 200},
		{"a name that goes on", change(`"r"`, `"`+strings.Repeat("r", 101)+`"`), 200},
		{"a name of no UTF-8", change(`"r"`, "\"r\xff\""), 200},
		{"an owner that is a word", change(`{"login":"o"}`, `"o"`), 200},
		{"an owner with a subject's dot and star", change(`"o"`, `"o.*.>"`), 200},
		{"a head that is a ref", change(newHead, "refs/heads/main"), 200},
		{"a head that is short", change(newHead, newHead[:7]), 200},
		{"a head of zeros", change(newHead, strings.Repeat("0", 40)), 200},
		{"a head in capitals", change(newHead, strings.ToUpper(newHead)), 200},
		{"a base that is a number", change(`"base":{"sha":"`+oldHead+`"}`, `"base":5`), 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := open(t, nil)
			status, text := d.deliver("pull_request", []byte(test.body))
			if jobs := d.queue.taken(); status != test.status || (status == 202) != (len(jobs) == 1) {
				t.Errorf("answered %d %s with %d jobs, want %d", status, text, len(jobs), test.status)
			}
			if len(text) > 200 || strings.ContainsAny(strings.TrimSuffix(text, "\n"), "\n\x00<") {
				t.Errorf("answered %q", text)
			}
		})
	}
}

// TestOddOthers checks that unexpected payloads of other events cause no job, or one that looks up the
// state.
func TestOddOthers(t *testing.T) {
	t.Parallel()
	const whose = `"installation":{"id":1},"repository":{"id":2,"name":"r","owner":{"login":"o"}}`
	pull := func(n int) string {
		return fmt.Sprintf(`{"number":%d,"head":{"sha":"%s"},"base":{"sha":"%s","repo":{"id":2}}}`, n, newHead, oldHead)
	}
	check := func(sha, pulls string) string {
		return fmt.Sprintf(`{"action":"rerequested",%s,"check_suite":{"head_sha":"%s","app":{"id":%d},"pull_requests":[%s]}}`, whose, sha, ourApp, pulls)
	}
	group := func(base, ref string) string {
		return fmt.Sprintf(`{"action":"checks_requested",%s,"merge_group":{"head_sha":"%s","base_sha":"%s","head_ref":"%s"}}`, whose, newHead, base, ref)
	}
	for _, test := range []struct{ name, event, body, want string }{
		{"a suite of one pull request", "check_suite", check(newHead, pull(3)), "pull-3"},
		{"a suite of two", "check_suite", check(newHead, pull(3)+","+pull(4)), "resolve-" + newHead},
		{"a suite of a pull request without number", "check_suite", check(newHead, pull(0)), "resolve-" + newHead},
		{"a suite without a head", "check_suite", check("", ""), ""},
		{"a suite of a short head", "check_suite", check(newHead[:7], ""), ""},
		{"a group", "merge_group", group(oldHead, "refs/heads/q"), "group-" + newHead},
		{"a group of no branch", "merge_group", group(oldHead, "q"), ""},
		{"a group of an odd branch", "merge_group", group(oldHead, `refs/heads/q\n::x::`), ""},
		{"a repository of no number added", "installation_repositories", `{"action":"added",` + whose + `,"repositories_added":[{"id":5},{"id":0}]}`, ""},
		{"a group without a base", "merge_group", group("main", "refs/heads/q"), ""},
	} {
		d := open(t, nil)
		status, text := d.deliver(test.event, []byte(test.body))
		got := ""
		for _, j := range d.queue.taken() {
			got = strings.TrimPrefix(j.Subject(), "1.2.")
		}
		if got != test.want || status >= 400 {
			t.Errorf("%s: answered %d %s with the job %q, want %q", test.name, status, text, got, test.want)
		}
	}
}

// TestFieldNames checks that the response names the unexpected field.
func TestFieldNames(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	for payload, want := range map[string]string{
		`{"repository":{"id":"x"}}`:                    "ignored: the payload's repository.id is not what it should be\n",
		`{"pull_request":{"head":{"sha":{}}}}`:         "ignored: the payload's pull_request.head.sha is not what it should be\n",
		`{"pull_request":{"base":{"repo":{"id":""}}}}`: "ignored: the payload's pull_request.base.repo.id is not what it should be\n",
		`[]`: "ignored: the payload is no object\n",
	} {
		if _, text := d.deliver("pull_request", []byte(payload)); text != want {
			t.Errorf("%s: answered %q, want %q", payload, text, want)
		}
	}
}
