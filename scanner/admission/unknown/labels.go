package unknown

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preadmit/preadmit/render"
)

// Labels are labels whose values are not known.
type Labels struct {
	keys map[string]*render.Unknown
	// all is set when it is not known which labels there are, but for the label but.
	all *render.Unknown
	but string
}

// LabelsOf returns those labels of an object that are not known.
func LabelsOf(fields []render.Unknown) Labels {
	u := Labels{keys: map[string]*render.Unknown{}}
	for i := range fields {
		f := &fields[i]
		switch path := []string{"metadata", "labels"}; {
		case At(path, fields[i:i+1]):
			u.all = f
		case Below(path, fields[i:i+1]):
			u.keys[f.Path[2]] = f
		}
	}
	return u
}

// LabelsBut are all labels but one.
func LabelsBut(key string) Labels { return Labels{all: &render.Unknown{}, but: key} }

// field returns why a label is not known; nil when it is.
func (u Labels) field(key string) *render.Unknown {
	if u.all != nil && (u.but == "" || key != u.but) {
		return u.all
	}
	return u.keys[key]
}

// Selected returns why it is not known whether a selector selects labels, after a text: the selector requires one
// that is not known, and no other decides. It is empty when that is known.
func (u Labels) Selected(s *metav1.LabelSelector, set labels.Set, text string) string {
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return "" // a configuration error, whatever the labels
	}
	requirements, _ := selector.Requirements()
	var unsure *render.Unknown
	for _, r := range requirements {
		if f := u.field(r.Key()); f != nil {
			unsure = cmp.Or(unsure, f)
		} else if !r.Matches(set) {
			return "" // does not match, whatever the other labels
		}
	}
	if unsure == nil {
		return ""
	}
	return text + " " + Describe(unsure)
}
