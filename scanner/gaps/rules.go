package gaps

// Rule is a rule against silent passes.
type Rule struct {
	// Func is the name of the function of this package that applies the rule.
	Func string
	// Protects is what would pass without the rule.
	Protects string
	// Tests are the tests of package scanner or of this package that fail without the rule.
	Tests []string
}

// Rules returns all rules. A test checks that the functions and the tests exist, and that
// every exported function that applies a rule is in the table.
func Rules() []Rule {
	return []Rule{
		// What is a root.
		{"KeepRoots", "a root that the change hides behind what uses it, or makes a component of something, and a manifest that it breaks",
			[]string{"TestARootCannotBeHidden", "TestBrokenManifests", "TestNewManifestsCannotBeHidden", "TestAPlainRootThatBecomesAKustomization"}},
		{"LeftOut", "what may be applied though it is in no root: charts, submodules, templates, links, unused files, tests",
			[]string{"TestLeftOut", "TestTestsAreNoRoots", "TestUnusedComponentIsReported", "TestExtensionOfManifests"}},
		{"Globs", "a mistyped glob, which selects nothing",
			[]string{"TestScanRestrictions"}},
		{"Nothing", "a scan that selects no root, and a path in which there is none",
			[]string{"TestScanWithoutRoots", "TestNamedPathsWithNothingToJudge"}},
		{"Alone", "a file that was named and that nothing uses",
			[]string{"TestNamedFilesThatNothingUses"}},

		// What is deployed.
		{"Deployers", "what deployers apply, as far as that is not known: charts, other sources, kinds that are not understood",
			[]string{"TestDeployed"}},
		{"Deploying", "a changed HelmRelease or another object that has others deployed, which are not rendered",
			[]string{"TestDeployed"}},
		{"Unclaimed", "a root that no deployer applies, which is not judged",
			[]string{"TestDeployed"}},
		{"GoneUnits", "a unit that is gone from the repository and stays in the cluster",
			[]string{"TestDeployed"}},
		{"Left", "an object that Argo CD no longer applies and does not delete",
			[]string{"TestDeployed"}},
		{"Reinstalled", "a release that is removed, with all that it has, and installed anew",
			[]string{"TestDeployed"}},
		{"Preserved", "a release whose upgrade keeps values that the repository does not have",
			[]string{"TestDeployed"}},
		{"LostDependencies", "a unit that waits for one which the change deletes, so that nothing of it is applied",
			[]string{"TestDeployed"}},
		{"Blocked", "a unit that waits for itself, or for units that do, so that nothing of it is applied",
			[]string{"TestDeployed"}},
		{"DeletedNamespaces", "objects that are deleted with their Namespace although they are still applied",
			[]string{"TestDeletedNamespace"}},
		{"UnusedValues", "changed values of a chart that no release of the repository uses",
			[]string{"TestUnusedValues"}},
		{"Unapplied", "a definition in crds/ of a chart that an upgrade does not apply",
			[]string{"TestDeployed", "TestGivenDefinitionsOfARelease"}},

		// What does not render.
		{"Roots", "a root that does not render, before the change or after it, or is refused",
			[]string{"TestARemoteBaseDoesNotTurnTheGateOff", "TestRootsThatNeverRendered", "TestRefusedRoots", "TestScanAccountsForRoots"}},
		{"Given", "policies and context of the configuration that do not render",
			[]string{"TestGivenPoliciesThatDoNotRender"}},
		{"UnrenderedPolicies", "policies in a root that does not render, which decide nothing",
			[]string{"TestPoliciesThatDoNotRender"}},
		{"Parts", "a broken policy in a root that is refused for another reason",
			[]string{"TestPoliciesOfARootThatIsRefusedAreChecked"}},
		{"Uncompared", "a root that does not render in a diff",
			[]string{"TestRootsThatDoNotRenderAreNotCompared"}},

		// What the cluster may decide otherwise.
		{"Untargeted", "a root that no target of the configuration has",
			[]string{"TestScanTargets"}},
		{"Ambiguities", "a policy, namespace or param that roots define differently",
			[]string{"TestScanAmbiguousLookUps", "TestScanAmbiguousPolicies"}},
		{"Unclear", "an object of the cluster that several roots have, of which it is not known whose it is",
			[]string{"TestWhoseObjectItIs"}},
		{"AssumedNamespace", "an object whose namespace is not known, judged as if it were",
			[]string{"TestAssumedNamespace"}},
		{"NoDefinition", "an object that the schema of its kind refuses, when nothing here defines the kind",
			[]string{"TestKindsWithoutADefinition"}},
		{"Owners", "a second definition of a kind, whose names a server does not accept",
			[]string{"TestSecondDefinition"}},
		{"Move", "an object that several roots lose or gain",
			[]string{"TestMovedObjects"}},
		{"Replaced", "what HelmReleases and other objects have applied that a unit deletes and a new one applies",
			[]string{"TestMovedToNewUnits"}},
		{"Bindings", "a binding whose policy nothing defines",
			[]string{"TestBindingOfAMissingPolicyIsWarnedOf"}},
		{"Refusals", "a policy that a server refuses, so that it has no effect",
			[]string{"TestScanRefusedPolicies"}},
		{"Webhooks", "webhooks that match a request, which verdicts do not include",
			[]string{"TestWhatIsNotSimulatedIsNamed"}},

		// What is no object by itself.
		{"Leftover", "a patch that nothing uses, refused as if it were an object",
			[]string{"TestPatchesNobodyUsesAreNoDenials"}},
	}
}
