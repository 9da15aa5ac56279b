// Package sarif writes reports as SARIF 2.1.0, within the limits of GitHub's code
// scanning. A rule is a validation of a policy, or a cause that no policy decides; a
// result is a finding, and what could not be judged is a notification of the run.
package sarif
