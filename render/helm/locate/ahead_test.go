package locate

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// TestTryAhead tries leaves one by one and several at a time: the results and the counts are the same, however
// many tries are left, and unused results do not count.
func TestTryAhead(t *testing.T) {
	fsys := fstest.MapFS{
		"Chart.yaml":  {Data: []byte("{apiVersion: v2, version: 1.0.0, name: app}")},
		"values.yaml": {Data: []byte("a: x\nb: x1\nc: 1\nd: true\n")},
		// c accepts no other number, and b no longer text.
		"templates/a.yaml": {Data: []byte("{{ if or (ne (int .Values.c) 1) (gt (len .Values.b) 2) }}{{ fail `no` }}{{ end }}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Values.a }}, b: {{ .Values.b }}, d: \"{{ .Values.d }}\"}\n")},
	}
	r := newRelease(t, fsys)
	rendered, err := r.Once(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	try := func(spent int, ahead bool) (outcome string) {
		tracer := New(t.Context(), Traced{Release: r, Chart: rendered.Chart, Objects: rendered.Objects})
		tracer.trials = spent
		f := tracer.file(rendered.Objects[0].Document)
		if ahead {
			if tracer.tryAhead(f, tracer.leaves); tracer.trials != spent || len(f.tried) > 0 {
				t.Errorf("%d tries, %d leaves tried before any is asked for", tracer.trials-spent, len(f.tried))
			}
		}
		for _, l := range tracer.leaves {
			made := tracer.try(f, l)
			outcome += fmt.Sprint(l.Path, made.rendered, tracer.trials-spent)
			for _, d := range made.documents {
				outcome += d.Text
			}
			_, known := f.tried[l]
			outcome += fmt.Sprintln(known, len(tracer.begun))
		}
		return outcome
	}
	for left := range 8 {
		one, several := try(releaseTries-left, false), try(releaseTries-left, true)
		if one != several {
			t.Errorf("with %d tries left, one by one:\n%sseveral at a time:\n%s", left, one, several)
		}
		if left == 7 {
			t.Log(one)
		}
	}
}
