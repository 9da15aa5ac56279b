package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of an artifact.
type Kind string

const (
	// Git is a tree of a git repository.
	Git Kind = "git"
	// File is a file that is fetched over HTTPS.
	File Kind = "file"
	// Chart is a Helm chart: of the Helm repository at URL or, for an oci:// URL, of the OCI
	// repository URL/Name.
	Chart Kind = "chart"
	// OCI is the content of a Flux OCIRepository: the first layer of an OCI artifact with the media type Name, or the
	// first of all layers.
	OCI Kind = "oci"
)

// RangePrefix is the prefix of a version of the kinds Git and OCI that is a range of versions, which are tags.
const RangePrefix = "semver:"

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Chart, File, Git, OCI} }

// Artifact is something needed from outside the repository, in the form in which it is requested. It is comparable.
type Artifact struct {
	Kind Kind
	// URL is the location, without the version.
	URL string
	// Name is the name of a chart in the repository at URL, or the media type of a layer.
	Name string
	// Version is a branch, tag, commit, version, range of versions or digest; empty means the default.
	Version string
	// Submodules is set when a git repository is requested with its submodules, which are artifacts of their own. Locks
	// contain the artifact without it; see Plain.
	Submodules bool
}

// OfChart returns the artifact of a reference to a chart. The URL of a registry may have no scheme.
func OfChart(url, name, version string) Artifact {
	if !strings.Contains(url, "://") {
		url = "oci://" + url
	}
	return Artifact{Kind: Chart, URL: strings.TrimRight(url, "/"), Name: name, Version: version}
}

// Plain returns the artifact that is fetched and locked: a repository without its submodules.
func (a Artifact) Plain() Artifact {
	a.Submodules = false
	return a
}

// String returns the artifact as text for messages, for example "git https://host/repository, version v1".
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

// maxText is the maximum length of a URL, name or version, in bytes.
const maxText = 2048

// Check returns an error if the artifact is not valid by itself.
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

// checkURL returns an error if the form of the URL is not valid.
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

// form returns example URLs for a kind.
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

// scpLike reports whether a URL has the form git@host:path, which git uses for SSH.
func scpLike(url string) bool {
	before, after, ok := strings.Cut(url, ":")
	return ok && before != "" && after != "" && !strings.Contains(before, "/")
}
