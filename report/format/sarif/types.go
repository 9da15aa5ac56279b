package sarif

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool              sarifTool         `json:"tool"`
	Invocations       []sarifInvocation `json:"invocations"`
	AutomationDetails sarifAutomation   `json:"automationDetails"`
	ColumnKind        string            `json:"columnKind"`
	Results           []sarifResult     `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name            string       `json:"name"`
	Version         string       `json:"version,omitempty"`
	SemanticVersion string       `json:"semanticVersion,omitempty"`
	InformationURI  string       `json:"informationUri"`
	Rules           []*sarifRule `json:"rules"`
	Notifications   []*sarifRule `json:"notifications,omitempty"`
}

// sarifRule is a reportingDescriptor.
type sarifRule struct {
	ID                   string               `json:"id"`
	Name                 string               `json:"name,omitempty"`
	ShortDescription     sarifMessage         `json:"shortDescription"`
	FullDescription      sarifMessage         `json:"fullDescription"`
	Help                 *sarifMessage        `json:"help,omitempty"`
	DefaultConfiguration *sarifConfiguration  `json:"defaultConfiguration,omitempty"`
	Properties           *sarifRuleProperties `json:"properties,omitempty"`
}

type sarifConfiguration struct {
	Level string `json:"level"`
}

// sarifRuleProperties has the properties that GitHub reads from a rule's property bag.
type sarifRuleProperties struct {
	Tags            []string `json:"tags"`
	Precision       string   `json:"precision"`
	ProblemSeverity string   `json:"problem.severity"`
}

type sarifMessage struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifAutomation struct {
	ID string `json:"id"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool                `json:"executionSuccessful"`
	Notifications       []sarifNotification `json:"toolExecutionNotifications"`
}

type sarifNotification struct {
	Descriptor sarifReference  `json:"descriptor"`
	Level      string          `json:"level"`
	Message    sarifMessage    `json:"message"`
	Locations  []sarifLocation `json:"locations,omitempty"`
}

type sarifReference struct {
	ID    string `json:"id"`
	Index int    `json:"index"`
}

type sarifResult struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               string            `json:"level"`
	Message             sarifMessage      `json:"message"`
	Locations           []sarifLocation   `json:"locations"`
	RelatedLocations    []sarifLocation   `json:"relatedLocations,omitempty"`
	CodeFlows           []sarifCodeFlow   `json:"codeFlows,omitempty"`
	PartialFingerprints map[string]string `json:"partialFingerprints,omitempty"`
	// Properties are a sarifResultProperties or a sarifLintProperties.
	Properties any `json:"properties"`
}

// sarifResultProperties has the fields of a finding that SARIF has no property for.
type sarifResultProperties struct {
	Status    string   `json:"status"`
	Actions   []string `json:"actions"`
	Cause     string   `json:"cause"`
	Policies  string   `json:"policies,omitempty"`
	Binding   string   `json:"binding,omitempty"`
	Operation string   `json:"operation,omitempty"`
	Object    string   `json:"object,omitempty"`
	Root      string   `json:"root"`
	Field     string   `json:"field,omitempty"`
	Exact     bool     `json:"exact"`
}

// sarifLintProperties has the properties of a result of lint.
type sarifLintProperties struct {
	Object string `json:"object,omitempty"`
	Target string `json:"target,omitempty"`
	Root   string `json:"root"`
	Field  string `json:"field,omitempty"`
	Exact  bool   `json:"exact"`
}

type sarifLocation struct {
	ID               *int          `json:"id,omitempty"`
	PhysicalLocation sarifPhysical `json:"physicalLocation"`
	Message          *sarifMessage `json:"message,omitempty"`
}

// sarifCodeFlow is a codeFlow: the steps that led to a place.
type sarifCodeFlow struct {
	Message     *sarifMessage     `json:"message,omitempty"`
	ThreadFlows []sarifThreadFlow `json:"threadFlows"`
}

type sarifThreadFlow struct {
	Locations []sarifStep `json:"locations"`
}

type sarifStep struct {
	Location sarifLocation `json:"location"`
}

type sarifPhysical struct {
	ArtifactLocation sarifArtifact `json:"artifactLocation"`
	Region           *sarifRegion  `json:"region,omitempty"`
	ContextRegion    *sarifRegion  `json:"contextRegion,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int           `json:"startLine"`
	StartColumn int           `json:"startColumn,omitempty"`
	EndLine     int           `json:"endLine,omitempty"`
	EndColumn   int           `json:"endColumn,omitempty"`
	Snippet     *sarifMessage `json:"snippet,omitempty"`
}
