package refusal

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// claims are the distinct names of the claim templates of a StatefulSet. A server validates the Pod template
// with a volume for each, in random order, before the volumes of the template that have other names
// (k8s.io/kubernetes/pkg/apis/apps/validation, ValidateStatefulSetSpec).
type claims []string

func claimsOf(object map[string]any) (names claims) {
	if version, _ := object["apiVersion"].(string); object["kind"] != "StatefulSet" || !strings.HasPrefix(version, "apps/") {
		return nil
	}
	templates, _, _ := unstructured.NestedSlice(object, "spec", "volumeClaimTemplates")
	for _, template := range templates {
		if name := nameIn(template, "metadata", "name"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func nameIn(item any, fields ...string) string {
	content, _ := item.(map[string]any)
	name, _, _ := unstructured.NestedString(content, fields...)
	return name
}

// validatedVolume matches the field of an error about a volume of a Pod template.
var validatedVolume = regexp.MustCompile(`^spec\.template\.spec\.volumes\[(\d+)\](.*)$`)

// volumeOf returns the index of the volume that an error is about, and the field below it.
func volumeOf(c metav1.StatusCause) (number int, below string, ok bool) {
	m := validatedVolume.FindStringSubmatch(c.Field)
	if m == nil {
		return 0, "", false
	}
	number, err := strconv.Atoi(m[1])
	return number, m[2], err == nil
}

// number renumbers the volumes of claim templates with errors from 0 on, sorted by their errors.
func (names claims) number(causes []metav1.StatusCause) {
	var at []int
	messages := map[int]string{}
	for i, c := range causes {
		if number, below, ok := volumeOf(c); ok && number < len(names) {
			at = append(at, i)
			messages[number] += below + ": " + c.Message + "\n"
		}
	}
	var texts []string
	for _, text := range messages {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	about := make([]metav1.StatusCause, 0, len(at))
	for _, i := range at {
		c := causes[i]
		number, below, _ := volumeOf(c)
		c.Field = fmt.Sprintf("spec.template.spec.volumes[%d]%s", slices.Index(texts, messages[number]), below)
		about = append(about, c)
	}
	slices.SortStableFunc(about, func(a, b metav1.StatusCause) int {
		m, _, _ := volumeOf(a)
		n, _, _ := volumeOf(b)
		return m - n
	})
	for k, i := range at {
		causes[i] = about[k]
	}
}

// written returns the field in a StatefulSet of an error about a volume. Validation counts the volumes of its
// claim templates first.
func (names claims) written(c metav1.StatusCause, object map[string]any) string {
	number, below, ok := volumeOf(c)
	switch {
	case !ok || len(names) == 0:
		return c.Field
	case number < len(names):
		return names.template(c, object)
	}
	volumes, _, _ := unstructured.NestedSlice(object, "spec", "template", "spec", "volumes")
	left := number - len(names)
	for i, volume := range volumes {
		if slices.Contains(names, nameIn(volume, "name")) {
			continue
		}
		if left--; left < 0 {
			return fmt.Sprintf("spec.template.spec.volumes[%d]%s", i, below)
		}
	}
	return c.Field
}

// template returns the field of the claim template that an error about its volume is about: the template
// whose name is in the message, or one without a name.
func (names claims) template(c metav1.StatusCause, object map[string]any) string {
	templates, _, _ := unstructured.NestedSlice(object, "spec", "volumeClaimTemplates")
	at := slices.IndexFunc(templates, func(template any) bool {
		name := nameIn(template, "metadata", "name")
		if c.Type == metav1.CauseTypeFieldValueRequired {
			return name == ""
		}
		return strings.HasPrefix(c.Message, "Invalid value: "+strconv.Quote(name)+":")
	})
	if at < 0 {
		return "spec.volumeClaimTemplates"
	}
	return fmt.Sprintf("spec.volumeClaimTemplates[%d].metadata.name", at)
}
