package unknown

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/preadmit/preadmit/render"
)

// Labels are the labels with unknown values.
type Labels struct {
	keys map[string]*render.Unknown
	// all is set if any label may be unknown, except the label but.
	all *render.Unknown
	but string
}

// LabelsOf returns the unknown labels of an object.
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

// LabelsBut returns Labels in which all labels but one are unknown.
func LabelsBut(key string) Labels { return Labels{all: &render.Unknown{}, but: key} }

// field returns the unknown field of a label; nil when its value is known.
func (u Labels) field(key string) *render.Unknown {
	if u.all != nil && (u.but == "" || key != u.but) {
		return u.all
	}
	return u.keys[key]
}

// Selected returns the reason why it is not known whether a selector selects labels, after a text: the
// selector requires an unknown label, and no other requirement decides. It returns "" if it is known.
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
