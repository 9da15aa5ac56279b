package names

import (
	"slices"
	"strings"

	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"
)

// tokenPrefix is the beginning of the names of volumes that the ServiceAccount plugin adds to Pods.
const tokenPrefix = serviceaccount.ServiceAccountVolumeName + "-"

// HasToken reports whether a Pod has a volume with the token of its ServiceAccount.
func HasToken(pod *core.Pod) bool { return slices.ContainsFunc(pod.Spec.Volumes, isToken) }

func isToken(v core.Volume) bool { return strings.HasPrefix(v.Name, tokenPrefix) }

// Token derives the name of a token's volume, if there is one, from the Pod and its namespace.
func Token(pod *core.Pod, namespace string) {
	i := slices.IndexFunc(pod.Spec.Volumes, isToken)
	if i < 0 {
		return
	}
	name := Generated(tokenPrefix, "token/"+namespace+"/"+pod.Name+pod.GenerateName)
	renameMounts(pod.Spec.InitContainers, pod.Spec.Volumes[i].Name, name)
	renameMounts(pod.Spec.Containers, pod.Spec.Volumes[i].Name, name)
	pod.Spec.Volumes[i].Name = name
}

func renameMounts(containers []core.Container, from, to string) {
	for i := range containers {
		for j := range containers[i].VolumeMounts {
			if m := &containers[i].VolumeMounts[j]; m.Name == from {
				m.Name = to
			}
		}
	}
}
