package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what an artifact is.
type Kind string

const (
	// Git is a tree of a git repository.
	Git Kind = "git"
	// File is a file that is fetched over HTTPS.
	File Kind = "file"
	// Chart is a Helm chart: of the Helm repository at URL or, for an oci:// URL, of the OCI
	// repository URL/Name.
	Chart Kind = "chart"
	// OCI is what Flux's OCIRepository is made of: a layer of an OCI artifact, the first of the
	// media type Name, or of all.
	OCI Kind = "oci"
)

// RangePrefix is how a version of the kinds Git and OCI begins that is a range of versions,
// which are tags.
const RangePrefix = "semver:"

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Chart, File, Git, OCI} }

// Artifact is something that is needed from outside the repository, as it is requested. It
// is comparable.
type Artifact struct {
	Kind Kind
	// URL is where it is, without the version.
	URL string
	// Name is that of a chart in the repository at URL, or the media type of a layer.
	Name string
	// Version is a branch, tag, commit, version, range of versions or digest; empty for what is
	// there by default.
	Version string
	// Submodules is set when the tree of a git repository is requested with those of its
	// submodules, which are artifacts of their own. Locks have an artifact without it, see Plain.
	Submodules bool
}

// Plain returns the artifact that is fetched, and locked: a repository without its submodules.
func (a Artifact) Plain() Artifact {
	a.Submodules = false
	return a
}

// String returns the artifact as messages have it: git https://host/repository, version v1.
func (a Artifact) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", a.Kind, a.URL)
	if a.Name != "" {
		fmt.Fprintf(&b, ", name %s", a.Name)
	}
	if a.Version != "" {
		fmt.Fprintf(&b, ", version %s", a.Version)
	}
	return b.String()
}

// Compare orders artifacts by kind, URL, name and version.
func (a Artifact) Compare(b Artifact) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.URL, b.URL), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
}

// maxText is the most bytes of a URL, name or version.
const maxText = 2048

// Check returns what is wrong with an artifact by itself, nil when nothing is.
func (a Artifact) Check() error {
	switch {
	case a.Kind != Git && a.Kind != File && a.Kind != Chart && a.Kind != OCI:
		return fmt.Errorf("%q is no kind of artifact", a.Kind)
	case a.URL == "":
		return errors.New("the URL is missing")
	case a.Kind == Chart && a.Name == "":
		return errors.New("the name of the chart is missing")
	case a.Kind != Chart && a.Kind != OCI && a.Name != "":
		return fmt.Errorf("an artifact of kind %s has no name", a.Kind)
	}
	for _, text := range []string{a.URL, a.Name, a.Version} {
		if len(text) > maxText {
			return fmt.Errorf("%.40q... is longer than %d bytes", text, maxText)
		}
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) && r != ' ' }) {
			return fmt.Errorf("%q has characters that are not printed", text)
		}
	}
	return a.checkURL()
}

// checkURL returns what is wrong with the form of the URL.
func (a Artifact) checkURL() error {
	if strings.ContainsAny(a.URL, " ") {
		return fmt.Errorf("the URL %q has a space in it", a.URL)
	}
	scheme, rest, ok := strings.Cut(a.URL, "://")
	if !ok {
		scheme = ""
	}
	switch {
	case a.Kind == Git && scheme == "" && scpLike(a.URL), a.Kind == Git && scheme == "ssh":
		return nil
	case scheme == "oci" && (a.Kind == Chart || a.Kind == OCI):
	case scheme == "https" && a.Kind != OCI:
	case scheme == "http":
		return fmt.Errorf("%s is without encryption: only https is fetched", a.URL)
	default:
		return fmt.Errorf("%s cannot be fetched: an artifact of kind %s has a URL like %s", a.URL, a.Kind, a.Kind.form())
	}
	host, _, _ := strings.Cut(rest, "/")
	if strings.Contains(host, "@") {
		return errors.New("the URL has credentials in it: those of a host are configured, not written in a repository")
	}
	if host == "" {
		return fmt.Errorf("%s has no host", a.URL)
	}
	return nil
}

// form is an example of what URLs of a kind look like.
func (k Kind) form() string {
	switch k {
	case Git:
		return "https://HOST/REPOSITORY or ssh://git@HOST/REPOSITORY"
	case Chart:
		return "https://HOST/PATH or oci://HOST/PATH"
	case OCI:
		return "oci://HOST/REPOSITORY"
	}
	return "https://HOST/PATH"
}

// scpLike reports whether a URL is like git@host:path, as git takes it for SSH.
func scpLike(url string) bool {
	before, after, ok := strings.Cut(url, ":")
	return ok && before != "" && after != "" && !strings.Contains(before, "/")
}
