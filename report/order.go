package report

import (
	"cmp"
	"slices"
)

// Sort puts all lists in the report's total order: by location, then by content.
func (r *Report) Sort() {
	slices.SortFunc(r.Findings, compareFindings)
	slices.SortFunc(r.Indeterminate, compareIndeterminates)
	slices.SortFunc(r.Diagnostics, compareDiagnostics)
}

// Diagnose adds diagnostics to a report, in the report's order.
func (r *Report) Diagnose(diagnostics ...Diagnostic) {
	r.Diagnostics = append(r.Diagnostics, diagnostics...)
	slices.SortStableFunc(r.Diagnostics, compareDiagnostics)
}

func compareFindings(a, b Finding) int {
	return cmp.Or(
		compareLocations(&a.Location, &b.Location),
		compareObjects(a.Object, b.Object),
		compareObjects(a.Generated, b.Generated),
		cmp.Compare(a.Policy, b.Policy),
		compareValidations(a.Validation, b.Validation),
		cmp.Compare(a.Binding, b.Binding),
		compareParams(a.Param, b.Param),
		cmp.Compare(a.Status, b.Status),
		cmp.Compare(a.Root, b.Root),
		cmp.Compare(a.Cause, b.Cause),
		cmp.Compare(a.Operation, b.Operation),
		cmp.Compare(a.Policies, b.Policies),
		cmp.Compare(a.Message, b.Message),
		slices.Compare(a.Actions, b.Actions),
	)
}

func compareIndeterminates(a, b Indeterminate) int {
	return cmp.Or(
		compareLocations(a.Location, b.Location),
		compareObjects(a.Object, b.Object),
		cmp.Compare(a.What, b.What),
		cmp.Compare(a.Policy, b.Policy),
		cmp.Compare(a.Root, b.Root),
		cmp.Compare(a.Why, b.Why),
	)
}

func compareDiagnostics(a, b Diagnostic) int {
	return cmp.Or(
		compareLocations(a.Location, b.Location),
		cmp.Compare(a.Root, b.Root),
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Message, b.Message),
	)
}

// compareLocations sorts entries without a location first.
func compareLocations(a, b *Location) int {
	if a == nil || b == nil {
		return comparePresence(a != nil, b != nil)
	}
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.StartLine, b.StartLine),
		cmp.Compare(a.StartColumn, b.StartColumn),
		cmp.Compare(a.EndLine, b.EndLine),
		cmp.Compare(a.EndColumn, b.EndColumn),
		cmp.Compare(a.Tree, b.Tree),
		cmp.Compare(a.Field, b.Field),
	)
}

func compareObjects(a, b *Object) int {
	if a == nil || b == nil {
		return comparePresence(a != nil, b != nil)
	}
	return cmp.Or(
		cmp.Compare(a.APIVersion, b.APIVersion),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.GenerateName, b.GenerateName),
	)
}

func compareValidations(a, b *int) int {
	if a == nil || b == nil {
		return comparePresence(a != nil, b != nil)
	}
	return cmp.Compare(*a, *b)
}

func compareParams(a, b *ParamRef) int {
	if a == nil || b == nil {
		return comparePresence(a != nil, b != nil)
	}
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func comparePresence(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
