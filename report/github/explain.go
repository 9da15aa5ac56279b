package github

// Explain returns an *Error for an error of go-github or of a transport of package retry,
// for requests without a Publisher. doing is the purpose of the request, like "ask for
// the pull request", and permission the one it needs, like "pull-requests: read". An error
// that did not come from GitHub gets KindUnavailable. Explain returns nil for nil.
func Explain(doing, permission string, err error) error {
	return attempt{doing, permission}.fail(err)
}
