package report

// APIVersion and Kind identify the wire format of a Report.
const (
	APIVersion = "preadmit.dev/v1alpha1"
	Kind       = "ScanReport"
)

// Report is the result of a scan and preadmit's wire format: every output is a
// pure function of it. Findings, indeterminates and diagnostics are in a total
// order (path, line, column, then identity), so equal scans give equal bytes,
// durations aside.
type Report struct {
	APIVersion    string          `json:"apiVersion"`
	Kind          string          `json:"kind"`
	Tool          Tool            `json:"tool"`
	Change        ChangeInfo      `json:"change"`
	Findings      []Finding       `json:"findings"`
	Indeterminate []Indeterminate `json:"indeterminate"`
	Diagnostics   []Diagnostic    `json:"diagnostics"`
	Summary       Summary         `json:"summary"`
	// Requests are the requests that were judged, in the order of roots and objects; only
	// where they were asked for.
	Requests []Request `json:"requests,omitempty"`
	// Changes is what the change changes in the rendered objects; only where it was
	// asked for and there is a base.
	Changes *Changes `json:"changes,omitempty"`
	// Charts are the charts of which the change takes another version.
	Charts []ChartChange `json:"charts,omitempty"`
}

// Tool identifies the program that wrote a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Kubernetes is the version whose API server is imitated, like v1.36.3. Where targets have
	// several, it is all of them, the oldest first: v1.34.0, v1.36.3.
	Kubernetes string `json:"kubernetes"`
	// FeatureGates are those of the API server that were set, like A=true,B=false.
	FeatureGates string `json:"featureGates,omitempty"`
	// RuntimeConfig is that of the API server that was set, like resource.k8s.io/v1beta2=true.
	RuntimeConfig string `json:"runtimeConfig,omitempty"`
}

// ChangeInfo names what was compared, for readers.
type ChangeInfo struct {
	// Base is absent when every object was judged as CREATE.
	Base *Revision `json:"base,omitempty"`
	Head Revision  `json:"head"`
}

// Revision names one side of a change.
type Revision struct {
	// Name is what the user asked for: a revision, a directory, "work tree".
	Name string `json:"name"`
	// Commit is the full object name, when the side is a commit.
	Commit string `json:"commit,omitempty"`
}

// Status of a finding against the base.
type Status string

const (
	StatusNew      Status = "new"
	StatusExisting Status = "existing"
	StatusResolved Status = "resolved"
)

// Action is what follows of a finding, ordered by strength: a validation action of
// Kubernetes, Deny, Warn or Audit, or before them Error.
type Action string

const (
	// ActionError: nothing was judged that should have been: a root does not render.
	ActionError Action = "Error"
	ActionDeny  Action = "Deny"
	ActionWarn  Action = "Warn"
	ActionAudit Action = "Audit"
)

// Cause says what made a finding.
type Cause string

const (
	// CauseValidation: a validation evaluated to false.
	CauseValidation Cause = "validation"
	// CauseError: an expression could not be evaluated and failurePolicy is Fail.
	CauseError Cause = "error"
	// CauseConfiguration: a missing param, paramKind or the like.
	CauseConfiguration Cause = "configuration"
	// CausePolicy: the API server would refuse to create a policy or binding.
	CausePolicy Cause = "policy"
	// CauseSchema: the API server itself would refuse or change the object, whatever
	// policies say (unknown fields, invalid values, sizes, quotas).
	CauseSchema Cause = "schema"
	// CauseProject: the AppProject of an Application of Argo CD forbids it, so that it is not applied.
	CauseProject Cause = "project"
	// CauseRender: a root that rendered at base does not render at head.
	CauseRender Cause = "render"
)

// PolicySet says which policies judged.
type PolicySet string

const (
	// PoliciesInForce are those of the base.
	PoliciesInForce PolicySet = "inForce"
	// PoliciesProposed are those of the head, where they differ.
	PoliciesProposed PolicySet = "proposed"
)

// Finding is something the API server would say about the change.
type Finding struct {
	// Fingerprint identifies the finding across line moves: hex, from what is
	// judged and by what, never from lines.
	Fingerprint string `json:"fingerprint"`
	Status      Status `json:"status"`
	// Action is the strongest of Actions.
	Action  Action   `json:"action"`
	Actions []Action `json:"actions"`
	Cause   Cause    `json:"cause"`
	// Policies is empty for causes that no policy set decides (policy, schema, project, render).
	Policies PolicySet `json:"policies,omitempty"`
	Policy   string    `json:"policy,omitempty"`
	Binding  string    `json:"binding,omitempty"`
	Param    *ParamRef `json:"param,omitempty"`
	// Validation is the index of the failed entry of spec.validations.
	Validation *int `json:"validation,omitempty"`
	// Definition is where the policy is written: the line of the validation that failed
	// or, when none did, of the policy.
	Definition *Definition `json:"definition,omitempty"`
	// Expression is the CEL expression that failed, when there is one.
	Expression string `json:"expression,omitempty"`
	// Message is worded as the API server words it after "denied request: ".
	Message string `json:"message"`
	// Original is what kustomize says itself, where the message says it in other words.
	Original string `json:"original,omitempty"`
	// Reason is the metav1.StatusReason of a denial: Invalid, Forbidden, ...
	Reason    string  `json:"reason,omitempty"`
	Operation string  `json:"operation,omitempty"`
	Object    *Object `json:"object,omitempty"`
	// Generated is the object the finding is about when it is one that a controller
	// creates of Object: the Pod of a Deployment. What its controller asks is CREATE.
	Generated *Object  `json:"generated,omitempty"`
	Root      string   `json:"root"`
	Location  Location `json:"location"`
	// Kubernetes are the versions whose API servers say it, like v1.34.0; empty where only one was
	// asked.
	Kubernetes []string `json:"kubernetes,omitempty"`
}

// Definition is the place of a policy. Path and StartLine are as for a Location; the
// file may be one given beside the trees.
type Definition struct {
	Path      string `json:"path"`
	StartLine int    `json:"startLine,omitempty"`
}

// ParamRef names the parameter object a decision was made with.
type ParamRef struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Object names a Kubernetes object. Namespace is empty for cluster-scoped kinds.
type Object struct {
	APIVersion   string `json:"apiVersion"`
	Kind         string `json:"kind"`
	Namespace    string `json:"namespace,omitempty"`
	Name         string `json:"name,omitempty"`
	GenerateName string `json:"generateName,omitempty"`
}

// Location is a range of a file in the tree of the finding: the base tree for
// DELETE and resolved findings, else the head tree. Lines and columns count from
// 1, columns in Unicode code points; EndColumn is exclusive.
type Location struct {
	Path        string `json:"path"`
	StartLine   int    `json:"startLine,omitempty"`
	StartColumn int    `json:"startColumn,omitempty"`
	EndLine     int    `json:"endLine,omitempty"`
	EndColumn   int    `json:"endColumn,omitempty"`
	// Field is the path of the offending field, as the Kubernetes API writes it.
	Field string `json:"field,omitempty"`
	// Exact is set when the line is known to decide the field: it is the very one that
	// the value was read from, or the object was seen to change with it when its root
	// was rendered once more.
	Exact bool `json:"exact"`
	// Tree is "base" or "head".
	Tree string `json:"tree"`
	// Chain is the history of the field in the order of application, from the object's
	// own document to this place, and last the expression of a MutatingAdmissionPolicy that wrote
	// the field in the request. Only of findings, and empty when there is one step.
	Chain []ChainStep `json:"chain,omitempty"`
	// Snippet holds the lines around the range, for readers without the tree. Its
	// first line is number SnippetLine.
	Snippet     []string   `json:"snippet,omitempty"`
	SnippetLine int        `json:"snippetLine,omitempty"`
	Related     []Location `json:"related,omitempty"`
	// Message says what a related location is and, of the place of a finding, which part of a
	// chart made the field that is not in the repository.
	Message string `json:"message,omitempty"`
	// LineHash is the hash of the line by which GitHub's code scanning knows an alert
	// again (SARIF's primaryLocationLineHash), for readers that do not have the file. Only of
	// findings, and empty when their file could not be read.
	LineHash string `json:"lineHash,omitempty"`
}

// ChainStep is one of those that wrote a field, one after the other.
type ChainStep struct {
	// Path, StartLine and StartColumn are as for a Location.
	Path        string `json:"path"`
	StartLine   int    `json:"startLine,omitempty"`
	StartColumn int    `json:"startColumn,omitempty"`
	// Absent is set when the field is not in the object's own document: the line is the
	// nearest above.
	Absent bool `json:"absent,omitempty"`
	// Kind is a render.StepKind: what is written there; or "mutation". Empty when that is not known.
	Kind string `json:"kind,omitempty"`
	// Kustomization is the file of the kustomization that applied it.
	Kustomization string `json:"kustomization,omitempty"`
	// Component is set when that kustomization is a Component.
	Component bool `json:"component,omitempty"`
}

// Indeterminate is something that could not be judged.
type Indeterminate struct {
	// What could not be judged: "root", "object", "policy", "manifest", or of what is in no
	// root a render.GapKind.
	What string `json:"what"`
	// Why, with what to do about it.
	Why string `json:"why"`
	// Original is as for a Finding.
	Original string    `json:"original,omitempty"`
	Location *Location `json:"location,omitempty"`
	Object   *Object   `json:"object,omitempty"`
	Policy   string    `json:"policy,omitempty"`
	Root     string    `json:"root,omitempty"`
	// Untouched: nothing of it differs between base and head, so that the change
	// does not make it what it is.
	Untouched bool `json:"untouched,omitempty"`
}

// Diagnostic is a remark that is not a verdict.
type Diagnostic struct {
	// Severity is error, warning or note.
	Severity string `json:"severity"`
	Message  string `json:"message"`
	// Original is as for a Finding.
	Original string    `json:"original,omitempty"`
	Location *Location `json:"location,omitempty"`
	Root     string    `json:"root,omitempty"`
	// Untouched: the change touches nothing of what the remark is about.
	Untouched bool `json:"untouched,omitempty"`
}

// Summary counts.
type Summary struct {
	// Requests is the number of admission requests judged.
	Requests int `json:"requests"`
	// Evaluations is the number of validations evaluated.
	Evaluations int `json:"evaluations"`
	// Findings counts by action, then status.
	Findings map[Action]map[Status]int `json:"findings"`
	// Roots counts the head's roots by outcome.
	Roots RootCounts `json:"roots"`
	// Policies and Bindings count those that judged.
	Policies int `json:"policies"`
	Bindings int `json:"bindings"`
	// Coverage has the number of objects whose verdict is exact; nil when no request was made.
	Coverage *Coverage `json:"coverage,omitempty"`
	// Webhooks are the webhooks with failurePolicy: Fail whose rules match a request. They are not
	// called, and may change or refuse it, also by being away.
	Webhooks []Webhook `json:"webhooks,omitempty"`
	// NoPolicies is set when requests were judged by no policy.
	NoPolicies *NoPolicies `json:"noPolicies,omitempty"`
	// Kubernetes are the API servers that judged, the oldest first; empty where it is the latest that
	// is known, with its own feature gates and APIs.
	Kubernetes []Server  `json:"kubernetes,omitempty"`
	Durations  Durations `json:"durations"`
}

// Server is an API server that is imitated, with the targets that it is of.
type Server struct {
	Version       string   `json:"version"`
	FeatureGates  string   `json:"featureGates,omitempty"`
	RuntimeConfig string   `json:"runtimeConfig,omitempty"`
	Targets       []string `json:"targets,omitempty"`
	// Requests is the number of admission requests that it judged.
	Requests int `json:"requests"`
}

// Webhook is a webhook of a configuration.
type Webhook struct {
	// Kind and Configuration are the kind and the name of the configuration.
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	// Name is that of the webhook.
	Name string `json:"name"`
}

// NoPolicies says that no policy was in force.
type NoPolicies struct {
	// Why, with what to do about it.
	Why string `json:"why"`
	// Required is set when the scan was asked to judge by policies, so that it is
	// incomplete.
	Required bool `json:"required,omitempty"`
}

// Coverage counts the objects that requests were made of.
type Coverage struct {
	// Objects counts all, Exact those of which everything was judged.
	Objects int `json:"objects"`
	Exact   int `json:"exact"`
	// Unknown counts the others by why, the most frequent reason first. An object may have
	// several.
	Unknown []UnknownCount `json:"unknown,omitempty"`
}

// UnknownCount is the number of objects that were not judged exactly for a reason.
type UnknownCount struct {
	Reason  string `json:"reason"`
	Objects int    `json:"objects"`
}

// RootCounts accounts for every root of the head.
type RootCounts struct {
	// Rendered counts roots that rendered at head.
	Rendered int `json:"rendered"`
	// Failed counts roots that rendered at base, or are new, and fail at head.
	Failed int `json:"failed"`
	// FailedBefore counts roots that failed at base already.
	FailedBefore int `json:"failedBefore"`
	// Indeterminate counts roots that were refused (network, plugins, limits).
	Indeterminate int `json:"indeterminate"`
	// Lost counts those of Indeterminate that rendered at base: the change took them
	// out of the gate's sight. So it does with roots that end the process they are
	// rendered in.
	Lost int `json:"lost"`
	// Untouched counts roots that render to the same at base and at head and hold
	// nothing that judging the change needs, so that they were not rendered.
	Untouched int `json:"untouched"`
}

// Durations are wall times of the stages, in seconds.
type Durations struct {
	Discover float64 `json:"discover"`
	Render   float64 `json:"render"`
	Judge    float64 `json:"judge"`
	Locate   float64 `json:"locate"`
	Total    float64 `json:"total"`
}
