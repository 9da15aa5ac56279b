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

// Difference is an object to which the server says something else than a scan expects.
type Difference struct {
	*Result
	// Server is its answer, Scan the one that was expected.
	Server, Scan string
}

// Verified is how the answers of the server compare.
type Verified struct {
	Compared    int
	Differences []Difference
	// Unknown are the objects of which a scan does not know the answer, and NoKind those of which the
	// server has no definition and a scan knows that nothing judges them.
	Unknown, NoKind []*Result
}

// Verify compares the answers of the server to the creation of each object with those that a scan
// expects. What was sent before all policies were in force, or was there already, is sent again,
// as a dry run.
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
		if err != nil { // a scan refuses it for that, too
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
		err = l.askWithout(ctx, again)
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
			out.Differences = append(out.Differences, Difference{r, r.Said(r.Answer), r.Said(r.Scan())})
		}
	}
	return out, nil
}

// warnsOfUnknown reports whether the server warns of a value that is sent in place of one that is not
// known, and says the same otherwise.
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

// Scan is the answer that a scan expects.
func (r *Result) Scan() policy.Verdict { return r.Applied.Answer }

// Same reports whether the server said what was expected: of several policies that deny, it names
// any; warnings have no order; a scan does not know how much of a quota is used, nor which name is
// generated.
func (r *Result) Same() bool {
	server, scan := r.unnamed(r.Answer), r.unnamed(r.Scan())
	if server.Allowed != scan.Allowed || !sameTexts(server.Warnings, scan.Warnings) {
		return false
	}
	if server.Allowed || server.Code == 0 { // discovery says that the kind is not served
		return true
	}
	return slices.ContainsFunc(append(slices.Clone(r.Denials), scan), func(v policy.Verdict) bool {
		v = r.unnamed(v)
		return v.Code == server.Code && (v.Message == server.Message || v.Message == quota.WithoutUsage(server.Message))
	})
}

// generated is how many characters a server adds to generateName, of which the name keeps the rest of 63.
const generated = 5

// unnamed returns an answer without the end of a generated name.
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

// Said is an answer to the object as it is shown.
func (r *Result) Said(v policy.Verdict) string {
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
