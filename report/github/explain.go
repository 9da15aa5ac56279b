package github

// Explain makes an *Error of what go-github or a transport of package retry gave, for
// requests that are made without a Publisher. doing is what it was for, like "ask for
// the pull request", and permission what it needs, like "pull-requests: read". An error
// that is none of GitHub's becomes one of KindUnavailable. Nil stays nil.
func Explain(doing, permission string, err error) error {
	return attempt{doing, permission}.fail(err)
}
