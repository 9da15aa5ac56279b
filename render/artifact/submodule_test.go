package artifact

import "testing"

// TestSubmoduleOf checks that relative URLs are resolved as git does.
func TestSubmoduleOf(t *testing.T) {
	for _, test := range []struct{ url, relative, want string }{
		{"https://host/org/repo", "../other", "https://host/org/other"},
		{"https://host/org/repo/", "../other/", "https://host/org/other"},
		{"https://host/org/repo.git", "../../team/other.git", "https://host/team/other.git"},
		{"https://host/org/repo", "./other", "https://host/org/repo/other"},
		{"https://host/org/repo", "./.././../x", "https://host/x"},
		{"git@host:org/repo", "../other", "git@host:org/other"},
		{"git@host:org/repo", "../../other", "git@host:other"},
		{"ssh://git@host:22/org/repo", "../other", "ssh://git@host:22/org/other"},
		{"https://host/org/repo", "../../../x", "https://x"}, // another host, as for git
		{"https://host/org/repo", "https://other/x", "https://other/x"},
		{"https://host/org/repo", "git@other:x", "git@other:x"},
	} {
		got, err := Submodule{Path: "a", Commit: "c", URL: test.relative}.Of(test.url)
		if err != nil || got != (Artifact{Kind: Git, URL: test.want, Version: "c"}) {
			t.Errorf("%s of %s is %v, %v, want %s", test.relative, test.url, got, err, test.want)
		}
	}
	// These leave no host, so that the result is not a URL.
	for _, relative := range []string{"../../../../../../../x", "/etc/passwd", "file:///x", "-u"} {
		a, err := Submodule{Path: "a", Commit: "c", URL: relative}.Of("https://host/org/repo")
		if err == nil {
			err = a.Check()
		}
		if err == nil {
			t.Errorf("%s is %v", relative, a)
		}
	}
	if _, err := (Submodule{Path: "a", Commit: "c"}).Of("https://host/org/repo"); err == nil {
		t.Error("a submodule without a URL is one")
	}
}
