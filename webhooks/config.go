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
	MetricsListen string     `json:"metricsListen" default:"127.0.0.1:9090" arg:"ADDRESS" usage:"address of /metrics; none when empty"`
	PublicURL     string     `json:"publicURL" arg:"URL" usage:"URL by which browsers and GitHub reach the service"`
	DataDir       string     `json:"dataDir" default:"preadmit-data" arg:"DIR" usage:"directory for what the service keeps"`
	App           AppConfig  `json:"app"`
	GitHub        GitHub     `json:"github"`
	NATS          NATS       `json:"nats"`
	Queue         Queue      `json:"queue"`
	Keep          Keep       `json:"keep"`
	Scan          Scan       `json:"scan"`
	Fetch         Fetch      `json:"fetch"`
	Artifacts     Artifacts  `json:"artifacts"`
	Forks         string     `json:"forks" default:"on" arg:"on|off|approve" usage:"whether pull requests from forks are judged; approve: after a maintainer's /preadmit rescan SHA"`
	CheckName     string     `json:"checkName" default:"preadmit" arg:"NAME" usage:"name of the check run"`
	Pages         Pages      `json:"pages"`
	API           API        `json:"api"`
	Playground    Playground `json:"playground"`
	Reconcile     Reconcile  `json:"reconcile"`
	Drain         Duration   `json:"drain" default:"30s" usage:"longest time to finish what is running when the service is stopped"`
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
	ClientID          string `json:"clientID" arg:"ID" usage:"client ID of the App, for logging in to the pages"`
	ClientSecretFile  string `json:"clientSecretFile" arg:"FILE" usage:"file with a client secret of the App, for logging in to the pages"`
	ClientSecret      string `json:"clientSecret" env:"only" usage:"a client secret of the App"`
}

// GitHub has the URLs of GitHub.
type GitHub struct {
	URL    string `json:"url" default:"https://github.com" arg:"URL" usage:"URL of GitHub, or of a GitHub Enterprise Server"`
	APIURL string `json:"apiURL" arg:"URL" usage:"URL of GitHub's API; follows from github.url when empty"`
}

// NATS locates the queue: it is embedded in the service unless there is a URL.
type NATS struct {
	URL             string `json:"url" arg:"URLS" usage:"URLs of an external NATS with JetStream, separated by commas; embedded when empty"`
	CredentialsFile string `json:"credentialsFile" arg:"FILE" usage:"file with credentials for it"`
	CAFile          string `json:"caFile" arg:"FILE" usage:"file with the certificates that it is trusted by"`
	Replicas        int    `json:"replicas" usage:"number of copies an external NATS keeps; 0 is as many as it has servers, up to 3"`
}

// Queue has the limits of jobs.
type Queue struct {
	Lease           Duration `json:"lease" default:"30s" usage:"time after which what a dead replica did is done by another"`
	Attempts        int      `json:"attempts" default:"5" usage:"number of failures of a job, or of processes that it ended, before it is given up"`
	PerInstallation int      `json:"perInstallation" usage:"most scans at a time of one installation, over all replicas; 0 is no bound"`
}

// Keep limits how long scans are kept, and how many.
type Keep struct {
	Age   Duration `json:"age" default:"720h" usage:"time to keep scans and reports"`
	Scans int      `json:"scans" default:"100000" usage:"most scans to keep that ended, 1000 or more; the oldest go first, with their reports"`
	Size  Size     `json:"size" default:"4Gi" usage:"most bytes of reports to keep; the oldest go first"`
}

// Scan limits scans.
type Scan struct {
	Concurrency int      `json:"concurrency" default:"2" usage:"number of scans at a time"`
	Workers     int      `json:"workers" usage:"number of cores a scan may use; 0 is all"`
	Memory      Size     `json:"memory" default:"2Gi" usage:"most memory of a scan"`
	Timeout     Duration `json:"timeout" default:"5m" usage:"longest time of a scan"`
	Jail        string   `json:"jail" default:"required" arg:"required|best-effort" usage:"required, or best-effort where the kernel cannot jail a scan: then a pull request may reach more than it should"`
}

// Fetch limits what is fetched of a repository.
type Fetch struct {
	Size    Size     `json:"size" default:"1Gi" usage:"most bytes to fetch for a scan"`
	Objects int      `json:"objects" default:"1000000" usage:"most git objects to fetch for a scan"`
	Timeout Duration `json:"timeout" default:"2m" usage:"longest time to fetch"`
}

// Artifacts configures the fetching of remote bases and charts from outside the repository.
type Artifacts struct {
	Fetch           string   `json:"fetch" default:"locked" arg:"locked|off" usage:"locked: remote bases and charts that the base's lock or configuration has are fetched; off: nothing is"`
	Size            Size     `json:"size" default:"2Gi" usage:"most bytes of them to keep; a scan may fetch half as many"`
	Timeout         Duration `json:"timeout" default:"2m" usage:"longest time to fetch them for a scan"`
	CredentialsFile string   `json:"credentialsFile" arg:"FILE" usage:"file that says which hosts get which credentials for whose repositories"`
	CAFile          string   `json:"caFile" arg:"FILE" usage:"PEM file of more authorities that sign certificates of hosts"`
	PrivateHosts    []string `json:"privateHosts" arg:"HOST" usage:"host that may be at a private address, with its port if it is not 443 (repeatable)"`
}

// Pages configures access to the pages.
type Pages struct {
	Access         string   `json:"access" default:"github" arg:"github|proxy" usage:"who sees pages: github (who may read the repository), or proxy (who a proxy in front names)"`
	Header         string   `json:"header" arg:"NAME" usage:"name of the header by which the proxy names the user"`
	TrustedProxies []string `json:"trustedProxies" arg:"CIDR" usage:"range of addresses that are the proxy's (repeatable)"`
	Admins         []string `json:"admins" arg:"LOGIN" usage:"login of who may see the queue and revive dead letters (repeatable)"`
}

// Playground configures the page for trying policies.
type Playground struct {
	Access    string `json:"access" default:"off" arg:"off|public" usage:"who may try policies at /playground: off (nobody), or public (everyone who reaches the service)"`
	Processes int    `json:"processes" default:"1" usage:"number of processes that judge what is tried, one request at a time each"`
	Memory    Size   `json:"memory" default:"1Gi" usage:"most memory of each of them"`
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
	Every Duration `json:"every" default:"5m" usage:"time between looking for what was missed; 0 is never"`
}

// Log configures the log.
type Log struct {
	Level  string `json:"level" default:"info" arg:"debug|info|warn|error" usage:"least level to log"`
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
