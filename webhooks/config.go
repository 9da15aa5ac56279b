package webhooks

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Config has the settings of the service. Every setting has a key in the file
// (app.privateKeyFile), a flag (--app-private-key-file) and an environment variable
// (PREADMIT_APP_PRIVATE_KEY_FILE); see Settings.
type Config struct {
	Listen        string     `json:"listen" default:"127.0.0.1:8080" arg:"ADDRESS" usage:"address of webhooks, pages and API"`
	MetricsListen string     `json:"metricsListen" default:"127.0.0.1:9090" arg:"ADDRESS" usage:"address of /metrics; no metrics if empty"`
	PublicURL     string     `json:"publicURL" arg:"URL" usage:"URL of the service for browsers and GitHub"`
	DataDir       string     `json:"dataDir" default:"preadmit-data" arg:"DIR" usage:"directory for the data of the service"`
	App           AppConfig  `json:"app"`
	GitHub        GitHub     `json:"github"`
	NATS          NATS       `json:"nats"`
	Queue         Queue      `json:"queue"`
	Keep          Keep       `json:"keep"`
	Scan          Scan       `json:"scan"`
	Fetch         Fetch      `json:"fetch"`
	Artifacts     Artifacts  `json:"artifacts"`
	Forks         string     `json:"forks" default:"on" arg:"on|off|approve" usage:"whether pull requests from forks are judged; approve: after the comment /preadmit rescan SHA of a maintainer"`
	CheckName     string     `json:"checkName" default:"preadmit" arg:"NAME" usage:"name of the check run"`
	Pages         Pages      `json:"pages"`
	API           API        `json:"api"`
	Playground    Playground `json:"playground"`
	Reconcile     Reconcile  `json:"reconcile"`
	Drain         Duration   `json:"drain" default:"30s" usage:"longest time for running scans to end when the service stops"`
	Log           Log        `json:"log"`
}

// AppConfig identifies the GitHub App of the service. Secrets are files, which are read
// again when they change, or environment variables.
type AppConfig struct {
	ID                int64  `json:"id" arg:"ID" usage:"ID of the GitHub App"`
	PrivateKeyFile    string `json:"privateKeyFile" arg:"FILE" usage:"file with the App's private key, PEM"`
	PrivateKey        string `json:"privateKey" env:"only" usage:"the App's private key, PEM"`
	WebhookSecretFile string `json:"webhookSecretFile" arg:"FILE" usage:"file with the secret of the App's webhook"`
	WebhookSecret     string `json:"webhookSecret" env:"only" usage:"the secret of the App's webhook"`
	ClientID          string `json:"clientID" arg:"ID" usage:"client ID of the App, for logins to the pages"`
	ClientSecretFile  string `json:"clientSecretFile" arg:"FILE" usage:"file with a client secret of the App, for logins to the pages"`
	ClientSecret      string `json:"clientSecret" env:"only" usage:"a client secret of the App"`
}

// GitHub has the URLs of GitHub.
type GitHub struct {
	URL    string `json:"url" default:"https://github.com" arg:"URL" usage:"URL of GitHub, or of a GitHub Enterprise Server"`
	APIURL string `json:"apiURL" arg:"URL" usage:"URL of GitHub's API; derived from github.url if empty"`
}

// NATS locates the queue: it is embedded in the service unless there is a URL.
type NATS struct {
	URL             string `json:"url" arg:"URLS" usage:"comma-separated URLs of an external NATS with JetStream; an embedded one if empty"`
	CredentialsFile string `json:"credentialsFile" arg:"FILE" usage:"file with credentials for NATS"`
	CAFile          string `json:"caFile" arg:"FILE" usage:"file with certificate authorities for NATS"`
	Replicas        int    `json:"replicas" usage:"number of replicas in an external NATS; 0 for its number of servers, at most 3"`
}

// Queue has the limits of jobs.
type Queue struct {
	Lease           Duration `json:"lease" default:"30s" usage:"time after which another replica takes over the jobs of a dead one"`
	Attempts        int      `json:"attempts" default:"5" usage:"number of failures, or of processes that it ended, after which a job is given up"`
	PerInstallation int      `json:"perInstallation" usage:"maximum of concurrent scans of an installation, over all replicas; 0 for no limit"`
}

// Keep limits how long scans are kept, and how many.
type Keep struct {
	Age   Duration `json:"age" default:"720h" usage:"time for which scans and reports are kept"`
	Scans int      `json:"scans" default:"100000" usage:"maximum of ended scans, at least 1000; the oldest are deleted first, with their reports"`
	Size  Size     `json:"size" default:"4Gi" usage:"maximum size of all reports; the oldest are deleted first"`
}

// Scan limits scans.
type Scan struct {
	Concurrency int      `json:"concurrency" default:"2" usage:"number of concurrent scans"`
	Workers     int      `json:"workers" usage:"number of cores that a scan may use; 0 for all"`
	Memory      Size     `json:"memory" default:"2Gi" usage:"maximum memory of a scan"`
	Timeout     Duration `json:"timeout" default:"5m" usage:"maximum time of a scan"`
	Jail        string   `json:"jail" default:"required" arg:"required|best-effort" usage:"required, or best-effort: without a jail if the kernel does not support it, so that a pull request may reach more than it should"`
}

// Fetch limits what is fetched of a repository.
type Fetch struct {
	Size    Size     `json:"size" default:"1Gi" usage:"maximum size of a fetch for a scan"`
	Objects int      `json:"objects" default:"1000000" usage:"maximum of git objects of a fetch for a scan"`
	Timeout Duration `json:"timeout" default:"2m" usage:"maximum time of a fetch"`
}

// Artifacts configures the fetching of remote bases and charts from outside the repository.
type Artifacts struct {
	Fetch           string   `json:"fetch" default:"locked" arg:"locked|off" usage:"locked: fetch remote bases and charts that the lock or the configuration of the base has; off: fetch none"`
	Size            Size     `json:"size" default:"2Gi" usage:"maximum size of stored artifacts; a scan may fetch half of it"`
	Timeout         Duration `json:"timeout" default:"2m" usage:"maximum time to fetch artifacts for a scan"`
	CredentialsFile string   `json:"credentialsFile" arg:"FILE" usage:"file with credentials of hosts, and the owners of repositories that may use them"`
	CAFile          string   `json:"caFile" arg:"FILE" usage:"PEM file with more certificate authorities"`
	PrivateHosts    []string `json:"privateHosts" arg:"HOST" usage:"host that may have a private address, with its port if that is not 443 (repeatable)"`
}

// Pages configures access to the pages.
type Pages struct {
	Access         string   `json:"access" default:"github" arg:"github|proxy" usage:"who may see pages: github (users who may read the repository), or proxy (users that a reverse proxy names)"`
	Header         string   `json:"header" arg:"NAME" usage:"header in which the proxy names the user"`
	TrustedProxies []string `json:"trustedProxies" arg:"CIDR" usage:"address range of the proxy (repeatable)"`
	Admins         []string `json:"admins" arg:"LOGIN" usage:"login of a user who may see the queue and retry dead letters (repeatable)"`
}

// Playground configures the page for trying policies.
type Playground struct {
	Access    string `json:"access" default:"off" arg:"off|public" usage:"who may use /playground: off (nobody), or public (everyone who can reach the service)"`
	Processes int    `json:"processes" default:"1" usage:"number of processes of the playground, each for one request at a time"`
	Memory    Size   `json:"memory" default:"1Gi" usage:"maximum memory of each process of the playground"`
}

// API has the tokens of the API. They can only be set in the file.
type API struct {
	Tokens []Token `json:"tokens" env:"never"`
}

// Token is a token of the API. Only its hash is known here.
type Token struct {
	Name string `json:"name"`
	// SHA256 is the hash of the token, in hex.
	SHA256 string `json:"sha256"`
	// Repositories are those it may be used for, as owner/name. None means all.
	Repositories []string `json:"repositories"`
}

// Reconcile is how often the service looks for missed deliveries and pull requests.
type Reconcile struct {
	Every Duration `json:"every" default:"5m" usage:"time between reconciliations with GitHub; 0 for never"`
}

// Log configures the log.
type Log struct {
	Level  string `json:"level" default:"info" arg:"debug|info|warn|error" usage:"lowest level of the log"`
	Format string `json:"format" default:"json" arg:"json|text" usage:"format of the log"`
}

// Duration is a time.Duration written as "1h30m".
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

// UnmarshalText parses a duration that is not negative.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return fmt.Errorf("want a time like 30s or 5m, not %q", text)
	}
	*d = Duration(parsed)
	return nil
}

// Size is a number of bytes, written as a Kubernetes quantity: 512Mi, 2Gi.
type Size int64

func (s Size) String() string { return resource.NewQuantity(int64(s), resource.BinarySI).String() }

// UnmarshalText parses a size that is not negative.
func (s *Size) UnmarshalText(text []byte) error {
	q, err := resource.ParseQuantity(string(text))
	if err != nil || q.Sign() < 0 {
		return fmt.Errorf("want a size like 512Mi or 2Gi, not %q", text)
	}
	*s = Size(q.Value())
	return nil
}
