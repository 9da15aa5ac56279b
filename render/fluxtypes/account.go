package fluxtypes

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/preadmit/preadmit/render"

	kjson "sigs.k8s.io/json"
)

// The names of the Deployments of controllers that apply objects.
const (
	KustomizeController = "kustomize-controller"
	HelmController      = "helm-controller"
	Operator            = "flux-operator"
)

// ControllerKind is the kind of the objects that run controllers.
var ControllerKind = schema.GroupKind{Group: "apps", Kind: "Deployment"}

// AccountFlag is the flag for the service account that a controller impersonates for objects that name none, in their
// namespaces.
const AccountFlag = "--default-service-account"

// Account is the name of such a service account; empty if there is none. Unknown is the reason if it is not known.
type Account struct{ Name, Unknown string }

// MentionsAccount reports whether a patch may change an Account.
func (p *InstancePatch) MentionsAccount() bool { return strings.Contains(p.Patch.Patch, AccountFlag) }

// AccountOf returns the Account in the arguments of a controller's Deployment.
func AccountOf(o *render.Object) (a Account) {
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Command []string `json:"command"`
						Args    []string `json:"args"`
					} `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(o.JSON, &deployment); err != nil {
		return Account{Unknown: fmt.Sprintf("its arguments cannot be read: %v", err)}
	}
	unknown := map[string]string{}
	for _, u := range o.Unknown {
		unknown[u.Field()] = u.Reason
	}
	// why returns the reason why the value at a path, or one above it, is not known.
	why := func(path string) string {
		for n := len(path); n > 0; n = strings.LastIndexByte(path[:n], '.') {
			if reason := unknown[path[:n]]; reason != "" {
				return reason
			}
		}
		return unknown[""]
	}
	for i, c := range deployment.Spec.Template.Spec.Containers {
		for _, list := range []struct {
			name string
			args []string
		}{{"command", c.Command}, {"args", c.Args}} {
			of := fmt.Sprintf("spec.template.spec.containers.%d.%s", i, list.name)
			if reason := why(of); reason != "" {
				return Account{Unknown: reason}
			}
			for j, arg := range list.args {
				if name, ok := flagValue(list.args, j); ok {
					a = Account{Name: name}
					if strings.Contains(name, "$(") {
						a = Account{Unknown: "it is that of a variable, " + name}
					}
				}
				if reason := why(of + "." + strconv.Itoa(j)); reason != "" && (strings.HasPrefix(arg, AccountFlag) || !strings.HasPrefix(arg, "-")) {
					a = Account{Unknown: reason}
				}
			}
		}
	}
	return a
}

// flagValue returns the value of AccountFlag, if it is the argument at i.
func flagValue(args []string, i int) (value string, ok bool) {
	if args[i] == AccountFlag && i+1 < len(args) {
		return args[i+1], true
	}
	return strings.CutPrefix(args[i], AccountFlag+"=")
}
