// Package sarif writes reports as SARIF 2.1.0, within the limits of GitHub's code
// scanning. A rule is a validation of a policy, or a cause for findings without one; a
// result is a finding, and an indeterminate is a notification of the run.
package sarif
