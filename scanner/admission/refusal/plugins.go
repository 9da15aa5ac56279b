package refusal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/preadmit/preadmit/render/origin"
)

// FieldsOfPlugin returns the fields that an admission plugin refuses of a Pod, a Service or a PersistentVolumeClaim,
// according to its message; none if no such plugin wrote it. These messages name containers, volumes and values, but
// no fields.
func FieldsOfPlugin(message string, object map[string]any) []string {
	kind, _ := object["kind"].(string)
	if version, _ := object["apiVersion"].(string); version != "v1" {
		return nil
	}
	switch kind {
	case claim.Kind:
		if claimed.MatchString(message) {
			return []string{"spec.resources.requests.storage"}
		}
	case service.Kind:
		if countedType.MatchString(message) {
			return []string{"spec.type"}
		}
	case "Pod":
		p := pod{object}
		if _, violations, ok := strings.Cut(message, "violates PodSecurity "); ok {
			return p.violated(violations)
		}
		return slices.Concat(p.ranged(message), p.unspecified(message), p.exceeding(message))
	}
	return nil
}

// claimed matches what the plugins PersistentVolumeClaimResize, LimitRanger and ResourceQuota say of the size of a claim.
var claimed = regexp.MustCompile(`pvc can be resized|usage per PersistentVolumeClaim is|exceeded quota: .*requested: [^ ]*requests\.storage=`)

// countedType matches what a ResourceQuota says of the type of a Service.
var countedType = regexp.MustCompile(`exceeded quota: .*requested: [^ ]*services\.(?:loadbalancers|nodeports)=`)

// pod is a Pod that a plugin refuses.
type pod struct{ content map[string]any }

// container is a container of a Pod, and where it is.
type container struct {
	at      string
	name    string
	content map[string]any
}

// containers returns the containers of the Pod, in the order in which plugins check them.
func (p pod) containers() []container {
	var all []container
	for _, list := range []string{"initContainers", "containers"} {
		items, _, _ := unstructured.NestedSlice(p.content, "spec", list)
		for i, item := range items {
			content, _ := item.(map[string]any)
			name, _ := content["name"].(string)
			all = append(all, container{fmt.Sprintf("spec.%s[%d]", list, i), name, content})
		}
	}
	return all
}

// named returns the containers with one of some names.
func (p pod) named(names []string) []container {
	return slices.DeleteFunc(p.containers(), func(c container) bool { return !slices.Contains(names, c.name) })
}

var (
	// details matches what a check of Pod Security says in parentheses after its name.
	details  = regexp.MustCompile(`\(([^()]*)\)`)
	quoted   = regexp.MustCompile(`"([^"]*)"`)
	ofHost   = regexp.MustCompile(`\bhost(?:Network|PID|IPC)\b`)
	security = regexp.MustCompile(`securityContext(?:\.[A-Za-z]+)+`)
	added    = regexp.MustCompile(`must not include (.*) in securityContext\.capabilities\.add`)
	subjects = regexp.MustCompile(` (?:must|uses?|set) `)
)

// violated returns the fields that violate Pod Security (k8s.io/pod-security-admission/policy).
func (p pod) violated(violations string) (fields []string) {
	for _, m := range details.FindAllStringSubmatch(violations, -1) {
		for _, clause := range strings.Split(m[1], "; ") {
			fields = append(fields, p.violatedBy(clause)...)
		}
	}
	return fields
}

// violatedBy returns the fields that one clause of a violation is about.
func (p pod) violatedBy(clause string) (fields []string) {
	of := clause
	if at := subjects.FindStringIndex(clause); at != nil {
		of = clause[:at[0]]
	}
	names := namesIn(of)
	path := security.FindString(clause)
	if path == "" && strings.Contains(clause, "runAsUser=0") {
		path = "securityContext.runAsUser"
	}
	switch {
	case strings.HasPrefix(of, "volume"):
		return p.volumes(names, clause)
	case strings.Contains(clause, "hostPort"):
		return p.hostPorts(names)
	case ofHost.MatchString(clause) && len(names) == 0:
		for _, name := range ofHost.FindAllString(clause, -1) {
			fields = append(fields, "spec."+name)
		}
		return fields
	case path == "":
		return nil
	}
	if m := added.FindStringSubmatch(clause); m != nil {
		return p.capabilities(names, namesIn(m[1]))
	}
	for _, c := range p.named(names) {
		fields = append(fields, c.at+"."+path)
	}
	if strings.HasPrefix(of, "pod") {
		fields = append(fields, "spec."+path)
	}
	return fields
}

func namesIn(text string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// volumes returns the sources of volumes, which a clause calls of a type, or else of the host.
func (p pod) volumes(names []string, clause string) (fields []string) {
	types := []string{"hostPath"}
	if _, after, ok := strings.Cut(clause, "volume type"); ok {
		types = namesIn(after)
	}
	items, _, _ := unstructured.NestedSlice(p.content, "spec", "volumes")
	for i, item := range items {
		volume, _ := item.(map[string]any)
		name, _ := volume["name"].(string)
		for _, of := range types {
			if volume[of] != nil && slices.Contains(names, name) {
				fields = append(fields, fmt.Sprintf("spec.volumes[%d].%s", i, of))
			}
		}
	}
	return fields
}

// hostPorts returns the ports of the host that containers use.
func (p pod) hostPorts(names []string) (fields []string) {
	for _, c := range p.named(names) {
		ports, _, _ := unstructured.NestedSlice(c.content, "ports")
		for i, item := range ports {
			if port, _ := item.(map[string]any); port["hostPort"] != nil {
				fields = append(fields, fmt.Sprintf("%s.ports[%d].hostPort", c.at, i))
			}
		}
	}
	return fields
}

// capabilities returns the capabilities that containers add.
func (p pod) capabilities(names, capabilities []string) (fields []string) {
	for _, c := range p.named(names) {
		list, _, _ := unstructured.NestedStringSlice(c.content, "securityContext", "capabilities", "add")
		for i, name := range list {
			if slices.Contains(capabilities, name) {
				fields = append(fields, fmt.Sprintf("%s.securityContext.capabilities.add[%d]", c.at, i))
			}
		}
	}
	return fields
}

// outOfRange matches an error of LimitRanger about a container.
var outOfRange = regexp.MustCompile(`(?:imum (\S+) usage|(\S+) max limit to request ratio) per Container is [^,\]]*?(?:, but (limit|request) is ([0-9.]+[A-Za-z]*)|, but provided ratio is ([0-9.]+)|(?:, but no|\. {1,2}No) (limit|request) is specified)`)

// ranged returns the fields of containers that a LimitRange refuses.
func (p pod) ranged(message string) (fields []string) {
	for _, m := range outOfRange.FindAllStringSubmatch(message, -1) {
		of, which, value, ratio := m[1]+m[2], m[3]+m[6], m[4], m[5]
		if ratio != "" {
			fields = append(fields, p.proportioned(of, ratio)...)
			continue
		}
		written, absent := p.amounts(which, of, value)
		if value == "" || len(written) == 0 { // not written, or a default of the LimitRange
			written = absent
		}
		fields = append(fields, written...)
	}
	return fields
}

// amounts returns the limits or requests with a value, and those that are absent.
func (p pod) amounts(which, of, value string) (written, absent []string) {
	for _, c := range p.containers() {
		has, exists := c.amount(which, of)
		switch limit, limited := c.amount("limit", of); {
		case exists && sameAmount(has, value):
			written = append(written, c.field(which, of))
		case !exists && limited && sameAmount(limit, value): // a request that is absent is as high as the limit
			written = append(written, c.field("limit", of))
		case !exists:
			absent = append(absent, c.field(which, of))
		}
	}
	return written, absent
}

// proportioned returns the limits and requests of containers whose ratio is the one that LimitRanger prints.
func (p pod) proportioned(of, ratio string) (fields []string) {
	for _, c := range p.containers() {
		limit, _ := c.amount("limit", of)
		request, _ := c.amount("request", of)
		x, err := resource.ParseQuantity(fmt.Sprint(limit))
		y, other := resource.ParseQuantity(fmt.Sprint(request))
		if err == nil && other == nil && y.Sign() > 0 && fmt.Sprintf("%f", x.AsApproximateFloat64()/y.AsApproximateFloat64()) == ratio {
			fields = append(fields, c.field("limit", of), c.field("request", of))
		}
	}
	return fields
}

// amount returns the limit or request of a container.
func (c container) amount(which, of string) (amount any, exists bool) {
	amount, exists, _ = unstructured.NestedFieldNoCopy(c.content, "resources", which+"s", of)
	return amount, exists
}

// field returns the path of the limit or request of a container.
func (c container) field(which, of string) string {
	return origin.AppendKey(c.at+".resources."+which+"s", of)
}

// sameAmount reports whether two quantities are equal, whatever they are written as.
func sameAmount(a any, b string) bool {
	x, err := resource.ParseQuantity(fmt.Sprint(a))
	y, other := resource.ParseQuantity(b)
	return err == nil && other == nil && x.Cmp(y) == 0
}

var (
	// missing matches what a ResourceQuota says of limits and requests that containers do not have.
	missing   = regexp.MustCompile(`must specify (.*)$`)
	exceeded  = regexp.MustCompile(`exceeded quota: [^,]*, requested: (.*?), used: `)
	requested = regexp.MustCompile(`(?:^|,)(?:(limit|request)s\.)?([^,=]+)=`)
)

// unspecified returns the limits and requests that containers lack according to a ResourceQuota.
func (p pod) unspecified(message string) (fields []string) {
	m := missing.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	for _, clause := range strings.Split(m[1], "; ") {
		amount, names, _ := strings.Cut(clause, " for: ")
		which, of, ok := strings.Cut(amount, "s.")
		if !ok {
			which, of = "request", amount
		}
		for _, c := range p.named(strings.Split(names, ",")) {
			fields = append(fields, c.field(which, of))
		}
	}
	return fields
}

// exceeding returns the limits and requests that exceed a ResourceQuota. Of resources without a prefix, cpu and memory
// are requests; others are counts of objects, and no field.
func (p pod) exceeding(message string) (fields []string) {
	m := exceeded.FindStringSubmatch(message)
	if m == nil {
		return nil
	}
	for _, r := range requested.FindAllStringSubmatch(m[1], -1) {
		which, of := r[1], r[2]
		if which == "" {
			which = "request"
		}
		for _, c := range p.containers() {
			if _, ok := c.amount(which, of); ok {
				fields = append(fields, c.field(which, of))
			}
		}
	}
	return fields
}
