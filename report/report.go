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
	// Requests are the requests that were judged, in the order of roots and objects. Only
	// set if requested.
	Requests []Request `json:"requests,omitempty"`
	// Changes are the differences in the rendered objects. Only set if requested and there
	// is a base.
	Changes *Changes `json:"changes,omitempty"`
	// Charts are the charts whose version the change changes.
	Charts []ChartChange `json:"charts,omitempty"`
}

// Tool identifies the program that wrote a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Kubernetes is the version of the imitated API server, like v1.36.3. If targets have
	// several, it lists all, the oldest first: v1.34.0, v1.36.3.
	Kubernetes string `json:"kubernetes"`
	// FeatureGates are the feature gates set for the API server, like A=true,B=false.
	FeatureGates string `json:"featureGates,omitempty"`
	// RuntimeConfig is the runtime config set for the API server, like resource.k8s.io/v1beta2=true.
	RuntimeConfig string `json:"runtimeConfig,omitempty"`
}

// ChangeInfo names the two compared revisions, for readers.
type ChangeInfo struct {
	// Base is absent when every object was judged as CREATE.
	Base *Revision `json:"base,omitempty"`
	Head Revision  `json:"head"`
}

// Revision names one side of a change.
type Revision struct {
	// Name is the revision as the user gave it, a directory, or "work tree".
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

// Action is the consequence of a finding, ordered by strength: Error, or a validation
// action of Kubernetes (Deny, Warn, Audit).
type Action string

const (
	// ActionError: objects could not be judged because their root does not render.
	ActionError Action = "Error"
	ActionDeny  Action = "Deny"
	ActionWarn  Action = "Warn"
	ActionAudit Action = "Audit"
)

// Cause is the cause of a finding.
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
	// CauseProject: the AppProject of an Argo CD Application forbids it, so it is not applied.
	CauseProject Cause = "project"
	// CauseRender: a root that rendered at base does not render at head.
	CauseRender Cause = "render"
)

// PolicySet is the set of policies that made a decision.
type PolicySet string

const (
	// PoliciesInForce are the policies of the base.
	PoliciesInForce PolicySet = "inForce"
	// PoliciesProposed are the policies of the head, where they differ.
	PoliciesProposed PolicySet = "proposed"
)

// Finding is a denial, a warning or an error that the change would cause.
type Finding struct {
	// Fingerprint is a hex digest that identifies the finding independent of lines.
	Fingerprint string `json:"fingerprint"`
	Status      Status `json:"status"`
	// Action is the strongest of Actions.
	Action  Action   `json:"action"`
	Actions []Action `json:"actions"`
	Cause   Cause    `json:"cause"`
	// Policies is empty for causes that do not depend on a policy set (policy, schema, project, render).
	Policies PolicySet `json:"policies,omitempty"`
	Policy   string    `json:"policy,omitempty"`
	Binding  string    `json:"binding,omitempty"`
	Param    *ParamRef `json:"param,omitempty"`
	// Validation is the index of the failed entry of spec.validations.
	Validation *int `json:"validation,omitempty"`
	// Definition is the location of the failed validation, or of the policy if no
	// validation failed.
	Definition *Definition `json:"definition,omitempty"`
	// Expression is the CEL expression that failed, when there is one.
	Expression string `json:"expression,omitempty"`
	// Message is the API server's message after "denied request: ".
	Message string `json:"message"`
	// Original is kustomize's own message, if Message is worded differently.
	Original string `json:"original,omitempty"`
	// Reason is the metav1.StatusReason of a denial: Invalid, Forbidden, ...
	Reason    string  `json:"reason,omitempty"`
	Operation string  `json:"operation,omitempty"`
	Object    *Object `json:"object,omitempty"`
	// Generated is the object of the finding if a controller creates it for Object, like
	// the Pod of a Deployment. The operation on it is CREATE.
	Generated *Object  `json:"generated,omitempty"`
	Root      string   `json:"root"`
	Location  Location `json:"location"`
	// Kubernetes are the versions whose API servers give the finding, like v1.34.0; empty if
	// only one version was used.
	Kubernetes []string `json:"kubernetes,omitempty"`
}

// Definition is the location of a policy. Path and StartLine are as in a Location; the
// file may also be one given in addition to the trees.
type Definition struct {
	Path      string `json:"path"`
	StartLine int    `json:"startLine,omitempty"`
}

// ParamRef names the parameter object of a decision.
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
	// Exact is set when the line is known to decide the field: the value was read from this
	// line, or rendering the root again with a changed line changed the object.
	Exact bool `json:"exact"`
	// Tree is "base" or "head".
	Tree string `json:"tree"`
	// Chain lists the places that wrote the field, in order: from the object's own document to
	// this location, and last the expression of a MutatingAdmissionPolicy that wrote it in the
	// request. Only findings have it; it is empty when there is only one step.
	Chain []ChainStep `json:"chain,omitempty"`
	// Snippet holds the lines around the range, for readers without the tree. Its
	// first line is number SnippetLine.
	Snippet     []string   `json:"snippet,omitempty"`
	SnippetLine int        `json:"snippetLine,omitempty"`
	Related     []Location `json:"related,omitempty"`
	// Message describes a related location. For the location of a finding, it names the part
	// of a chart outside the repository that wrote the field.
	Message string `json:"message,omitempty"`
	// LineHash is the hash of the line by which GitHub's code scanning recognizes an alert
	// (SARIF's primaryLocationLineHash), for readers without the file. Only findings have it;
	// it is empty when the file could not be read.
	LineHash string `json:"lineHash,omitempty"`
}

// ChainStep is one of the places that wrote a field.
type ChainStep struct {
	// Path, StartLine and StartColumn are as for a Location.
	Path        string `json:"path"`
	StartLine   int    `json:"startLine,omitempty"`
	StartColumn int    `json:"startColumn,omitempty"`
	// Absent is set when the object's own document does not have the field. The line is
	// then that of the nearest ancestor.
	Absent bool `json:"absent,omitempty"`
	// Kind is a render.StepKind or "mutation". Empty when it is not known.
	Kind string `json:"kind,omitempty"`
	// Kustomization is the file of the kustomization that applied it.
	Kustomization string `json:"kustomization,omitempty"`
	// Component is set when that kustomization is a Component.
	Component bool `json:"component,omitempty"`
}

// Indeterminate is something that could not be judged.
type Indeterminate struct {
	// What could not be judged: "root", "object", "policy", "manifest", or a render.GapKind
	// for things outside of roots.
	What string `json:"what"`
	// Why, with what to do about it.
	Why string `json:"why"`
	// Original is as for a Finding.
	Original string    `json:"original,omitempty"`
	Location *Location `json:"location,omitempty"`
	Object   *Object   `json:"object,omitempty"`
	Policy   string    `json:"policy,omitempty"`
	Root     string    `json:"root,omitempty"`
	// Untouched is set when nothing of it differs between base and head, so that the
	// change is not the cause.
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
	// Untouched is set when the change touches nothing that the remark is about.
	Untouched bool `json:"untouched,omitempty"`
}

// Summary has the counts of a Report.
type Summary struct {
	// Requests is the number of admission requests judged.
	Requests int `json:"requests"`
	// Evaluations is the number of validations evaluated.
	Evaluations int `json:"evaluations"`
	// Findings counts by action, then status.
	Findings map[Action]map[Status]int `json:"findings"`
	// Roots counts the head's roots by outcome.
	Roots RootCounts `json:"roots"`
	// Policies and Bindings count those that were evaluated.
	Policies int `json:"policies"`
	Bindings int `json:"bindings"`
	// Coverage has the number of objects whose verdict is exact; nil when no request was made.
	Coverage *Coverage `json:"coverage,omitempty"`
	// Webhooks are the webhooks with failurePolicy: Fail whose rules match a request. They are not
	// called, but in a cluster they may change or refuse it, or fail it by being unavailable.
	Webhooks []Webhook `json:"webhooks,omitempty"`
	// NoPolicies is set when no policy was in force for the requests.
	NoPolicies *NoPolicies `json:"noPolicies,omitempty"`
	// Kubernetes are the imitated API servers, the oldest first; empty if only the latest known
	// version was used, with its default feature gates and APIs.
	Kubernetes []Server  `json:"kubernetes,omitempty"`
	Durations  Durations `json:"durations"`
}

// Server is an imitated API server, with its targets.
type Server struct {
	Version       string   `json:"version"`
	FeatureGates  string   `json:"featureGates,omitempty"`
	RuntimeConfig string   `json:"runtimeConfig,omitempty"`
	Targets       []string `json:"targets,omitempty"`
	// Requests is the number of admission requests that it judged.
	Requests int `json:"requests"`
}

// Webhook names a webhook of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration.
type Webhook struct {
	// Kind and Configuration are the kind and the name of the configuration.
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	// Name is the name of the webhook.
	Name string `json:"name"`
}

// NoPolicies explains that no policy was in force.
type NoPolicies struct {
	// Why, with what to do about it.
	Why string `json:"why"`
	// Required is set when the scan requires policies, so that it is incomplete.
	Required bool `json:"required,omitempty"`
}

// Coverage counts the objects of requests.
type Coverage struct {
	// Objects counts all objects, Exact those for which everything was judged.
	Objects int `json:"objects"`
	Exact   int `json:"exact"`
	// Unknown counts the others by reason, the most frequent first. An object may have
	// several reasons.
	Unknown []UnknownCount `json:"unknown,omitempty"`
}

// UnknownCount is the number of objects that were not judged exactly for a reason.
type UnknownCount struct {
	Reason  string `json:"reason"`
	Objects int    `json:"objects"`
}

// RootCounts counts the roots of the head by outcome.
type RootCounts struct {
	// Rendered counts roots that rendered at head.
	Rendered int `json:"rendered"`
	// Failed counts roots that rendered at base, or are new, and fail at head.
	Failed int `json:"failed"`
	// FailedBefore counts roots that failed at base already.
	FailedBefore int `json:"failedBefore"`
	// Indeterminate counts roots that were refused (network, plugins, limits).
	Indeterminate int `json:"indeterminate"`
	// Lost counts the roots of Indeterminate that rendered at base, so that the change
	// hides them from the scan. It includes roots that crash the process that renders
	// them.
	Lost int `json:"lost"`
	// Untouched counts roots that were not rendered, as they give the same objects at base
	// and at head and judging the change does not need these.
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
