package sandbox

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/preadmit/preadmit/scanner/admission/quota"
	"github.com/preadmit/preadmit/scanner/policy"
)

// Difference is an object for which the server's answer differs from that of a scan.
type Difference struct {
	*Result
	// Server is the server's answer, Scan the expected one.
	Server, Scan string
}

// Verified is the result of Verify.
type Verified struct {
	Compared    int
	Differences []Difference
	// Unknown are the objects for which a scan does not know the answer. NoKind are those whose kind the
	// server does not serve and that nothing judges in a scan.
	Unknown, NoKind []*Result
}

// Verify compares the server's answers to the creation of each object with those that a scan
// expects. Objects that were sent before all policies were in force, or that already existed, are
// sent again as a dry run.
func (l *Loader) Verify(ctx context.Context, loaded *Loaded) (*Verified, error) {
	var compared, again []*Result
	out := &Verified{}
	for i := range loaded.Results {
		r := &loaded.Results[i]
		switch {
		case r.Given:
		case len(r.Open) > 0 && r.Scan().Allowed:
			out.Unknown = append(out.Unknown, r)
		case l.unserved(r) && r.Scan().Allowed:
			out.NoKind = append(out.NoKind, r)
		default:
			compared = append(compared, r)
			if !r.created {
				again = append(again, r)
			}
		}
	}
	err := l.each(ctx, "verify", again, func(ctx context.Context, r *Result) error {
		at, err := l.place(r.Applied)
		if err != nil { // a scan refuses it for the same reason
			r.Answer = policy.Verdict{Message: noKind(r.Object, err)}
			return nil
		}
		got, err := l.tryCreate(ctx, at, r.Applied)
		if err == nil {
			r.Answer = verdictOf(got)
		}
		return err
	})
	if err == nil {
		err = l.retryWithoutCopy(ctx, again)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range compared {
		switch {
		case r.Same():
			out.Compared++
		case r.warnsOfUnknown():
			out.Unknown = append(out.Unknown, r)
		default:
			out.Compared++
			out.Differences = append(out.Differences, Difference{r, r.Text(r.Answer), r.Text(r.Scan())})
		}
	}
	return out, nil
}

// warnsOfUnknown reports whether the answers are the same except for warnings of the server, which may
// be about a stand-in for an unknown value of the object.
func (r *Result) warnsOfUnknown() bool {
	without := *r
	without.Answer.Warnings = slices.DeleteFunc(slices.Clone(r.Answer.Warnings), func(w string) bool { return !slices.Contains(r.Scan().Warnings, w) })
	return len(r.Object.Unknown) > 0 && without.Same()
}

// unserved reports whether the server does not serve the kind of an object.
func (l *Loader) unserved(r *Result) bool {
	_, err := l.place(r.Applied)
	return err != nil
}

// Scan returns the answer that a scan expects.
func (r *Result) Scan() policy.Verdict { return r.Applied.Answer }

// Same reports whether the server's answer is the expected one. If several policies deny, the message
// may be that of any; the order of warnings does not matter; a scan knows neither the usage of a quota
// nor a generated name.
func (r *Result) Same() bool {
	server, scan := r.unnamed(r.Answer), r.unnamed(r.Scan())
	if server.Allowed != scan.Allowed || !sameTexts(server.Warnings, scan.Warnings) {
		return false
	}
	if server.Allowed || server.Code == 0 { // 0: the kind is not served according to discovery
		return true
	}
	return slices.ContainsFunc(append(slices.Clone(r.Denials), scan), func(v policy.Verdict) bool {
		v = r.unnamed(v)
		return v.Code == server.Code && (v.Message == server.Message || v.Message == quota.WithoutUsage(server.Message))
	})
}

// generated is how many characters a server adds to generateName, which it cuts so that the name has at
// most 63.
const generated = 5

// unnamed returns an answer without the generated suffix of the name.
func (r *Result) unnamed(v policy.Verdict) policy.Verdict {
	begin := r.Object.GenerateName()
	if begin == "" || r.Object.Name() != "" {
		return v
	}
	begin = begin[:min(len(begin), validation.DNS1123LabelMaxLength-generated)]
	name := regexp.MustCompile(fmt.Sprintf(`%s[a-z0-9]{%d}\b`, regexp.QuoteMeta(begin), generated))
	without := func(text string) string { return name.ReplaceAllLiteralString(text, begin) }
	v.Message, v.Warnings = without(v.Message), slices.Clone(v.Warnings)
	for i := range v.Warnings {
		v.Warnings[i] = without(v.Warnings[i])
	}
	return v
}

func sameTexts(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// Text returns the text to show for an answer, without values of Secrets.
func (r *Result) Text(v policy.Verdict) string {
	text := "allowed"
	if !v.Allowed {
		text = fmt.Sprintf("%d %s", v.Code, r.shown(v.Message))
	}
	if len(v.Warnings) > 0 {
		var warnings []string
		for _, w := range v.Warnings {
			warnings = append(warnings, r.shown(w))
		}
		text += " (warnings: " + strings.Join(warnings, "; ") + ")"
	}
	return text
}
