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

// written maps fields of the object of a finding to fields of the object as written: before
// policies mutated it, and of the workload if the object was generated.
func (f *Finding) written(fields []string) []string {
	out := []string{}
	for _, field := range fields {
		if field, ok := f.writtenField(field); ok {
			out = append(out, field)
		}
	}
	return out
}

// writtenField does the same for one field; ok is false if the object as written has no such field.
// It records the expression of the last mutation that wrote the field.
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

// settle maps the fields at fault to the object as written, and releases the mutated objects, which
// are large.
func (f *Finding) settle() {
	if len(f.Mutations) > 0 {
		f.Fields, f.settled, f.Mutations = f.written(f.Fields), true, nil
	}
}

// writtenFields returns the fields at fault in the object as written.
func (f *Finding) writtenFields() []string {
	if f.settled {
		return f.Fields
	}
	return f.written(f.Fields)
}

// mutation returns 1 for a field that a policy wrote, 0 for others.
func (f *Finding) mutation(field string) int {
	if _, ok := f.mutated[field]; ok {
		return 1
	}
	return 0
}
