package lines

import (
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/admission/refusal"
	"github.com/preadmit/preadmit/scanner/mutation"
)

// expression is a field of a MutatingAdmissionPolicy that holds the expression of a mutation.
type expression struct {
	policy *admission.Object
	field  string
}

// written are fields of the object a finding is about as fields of what was
// written: before policies changed it, and of the workload when it is about a generated object.
func (f *Finding) written(fields []string) []string {
	out := []string{}
	for _, field := range fields {
		if field, ok := f.writtenField(field); ok {
			out = append(out, field)
		}
	}
	return out
}

// writtenField is written for one field; ok is false where the field is none of what was written.
// The expression of the last mutation that wrote it is noted.
func (f *Finding) writtenField(field string) (written string, ok bool) {
	var by *mutation.Write
	for level := len(f.Lineage); ; level-- {
		if level < len(f.Mutations) {
			back, wrote := mutation.Back(f.Mutations[level], field)
			if field = back; by == nil {
				by = wrote
			}
		}
		if level == 0 {
			break
		}
		if field, ok = f.Lineage[level-1].OwnerField(field); !ok {
			return "", false
		}
	}
	if _, noted := f.mutated[field]; by != nil && !noted {
		if f.mutated == nil {
			f.mutated = map[string]expression{}
		}
		f.mutated[field] = expression{by.Policy.Source, by.Expression()}
	}
	if by == nil {
		field = refusal.Moved(field, f.Subject.Content())
	}
	return field, true
}

// settle finds what was written of the fields at fault, and lets go of the objects that policies
// changed, which are large.
func (f *Finding) settle() {
	if len(f.Mutations) > 0 {
		f.Fields, f.settled, f.Mutations = f.written(f.Fields), true, nil
	}
}

// writtenFields are the fields at fault of what was written.
func (f *Finding) writtenFields() []string {
	if f.settled {
		return f.Fields
	}
	return f.written(f.Fields)
}

// mutation is 1 for a field of what was written that a policy wrote anew, 0 for others.
func (f *Finding) mutation(field string) int {
	if _, ok := f.mutated[field]; ok {
		return 1
	}
	return 0
}
