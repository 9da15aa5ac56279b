package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/kubernetes/pkg/controller"
	daemonutil "k8s.io/kubernetes/pkg/controller/daemon/util"
	deploymentutil "k8s.io/kubernetes/pkg/controller/deployment/util"
	"k8s.io/kubernetes/pkg/controller/history"
	labelsutil "k8s.io/kubernetes/pkg/util/labels"
)

const (
	// firstRevision is the revision of a new workload.
	firstRevision = 1
	// maxRevisionHistory is the controller's bound of an annotation that a first revision does not
	// have.
	maxRevisionHistory = 2000
	// nodeName is the name of the node of a DaemonSet's Pod: there is a Pod on each node, and the
	// nodes are not known.
	nodeName = "node"
)

// replicaSetOf returns the new ReplicaSet of a Deployment, like getNewReplicaSet
// (k8s.io/kubernetes/pkg/controller/deployment/sync.go).
func replicaSetOf(d *appsv1.Deployment) (*Generated, error) {
	if d.Spec.Paused {
		return nil, nil
	}
	template := *d.Spec.Template.DeepCopy()
	hash := controller.ComputeHash(&template, d.Status.CollisionCount)
	template.Labels = labelsutil.CloneAndAddLabel(d.Spec.Template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: replicaSetName(d.Name, hash), Namespace: d.Namespace, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32), MinReadySeconds: d.Spec.MinReadySeconds, Template: template,
			Selector: labelsutil.CloneSelectorAndAddLabel(d.Spec.Selector, appsv1.DefaultDeploymentUniqueLabelKey, hash),
		},
	}
	replicas, err := deploymentutil.NewRSNewReplicas(d, []*appsv1.ReplicaSet{rs}, rs)
	if err != nil {
		return nil, fmt.Errorf("count the replicas of Deployment %s: %w", d.Name, err)
	}
	rs.Spec.Replicas = &replicas
	deploymentutil.SetNewReplicaSetAnnotations(context.Background(), d, rs, strconv.Itoa(firstRevision), false, maxRevisionHistory)
	return newGenerated(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), "deployment-controller", []move{
		{"metadata.labels", "spec.template.metadata.labels"},
		{"metadata", "metadata"},
		{"spec", "spec"},
	})
}

// replicaSetName truncates the name like the controller's generateReplicaSetName.
func replicaSetName(deployment, hash string) string {
	most := validation.DNS1123SubdomainMaxLength - len("-") - len(hash)
	return deployment[:min(len(deployment), most)] + "-" + hash
}

// replicaOf returns a Pod of a ReplicaSet or ReplicationController
// (k8s.io/kubernetes/pkg/controller/replicaset/replica_set.go).
func replicaOf(owner controllerObject, template *corev1.PodTemplateSpec, replicas *int32, kind schema.GroupVersionKind, name string) (*Generated, error) {
	if template == nil || replicas == nil || *replicas == 0 {
		return nil, nil
	}
	pod, err := controller.GetPodFromTemplate(template, owner, metav1.NewControllerRef(owner, kind))
	if err != nil {
		return nil, fmt.Errorf("make a Pod of %s %s: %w", kind.Kind, owner.GetName(), err)
	}
	return newGeneratedPod(pod, owner, name, templateMoves())
}

// controllerObject is a workload.
type controllerObject interface {
	metav1.Object
	runtime.Object
}

// daemonPodOf returns a Pod of a DaemonSet
// (k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go, syncNodes).
func daemonPodOf(ds *appsv1.DaemonSet) (*Generated, error) {
	generation, err := daemonutil.GetTemplateGeneration(ds)
	if err != nil {
		generation = nil // as in the controller
	}
	template := daemonutil.CreatePodTemplate(ds.Spec.Template, generation, controller.ComputeHash(&ds.Spec.Template, ds.Status.CollisionCount))
	template.Spec.Affinity = daemonutil.ReplaceDaemonSetPodNodeNameNodeAffinity(template.Spec.Affinity, nodeName)
	kind := appsv1.SchemeGroupVersion.WithKind("DaemonSet")
	pod, err := controller.GetPodFromTemplate(&template, ds, metav1.NewControllerRef(ds, kind))
	if err != nil {
		return nil, fmt.Errorf("make a Pod of DaemonSet %s: %w", ds.Name, err)
	}
	return newGeneratedPod(pod, ds, "daemon-set-controller", templateMoves())
}

// statefulPodOf returns the first Pod of a StatefulSet, like newVersionedStatefulSetPod
// (k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go).
func statefulPodOf(set *appsv1.StatefulSet) (*Generated, error) {
	if set.Spec.Replicas == nil || *set.Spec.Replicas == 0 {
		return nil, nil
	}
	kind := appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	pod, err := controller.GetPodFromTemplate(&set.Spec.Template, set, metav1.NewControllerRef(set, kind))
	if err != nil {
		return nil, fmt.Errorf("make a Pod of StatefulSet %s: %w", set.Name, err)
	}
	revision, err := statefulRevision(set, kind)
	if err != nil {
		return nil, err
	}
	ordinal := 0
	if set.Spec.Ordinals != nil {
		ordinal = int(set.Spec.Ordinals.Start)
	}
	pod.Name = fmt.Sprintf("%s-%d", set.Name, ordinal)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
	pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(ordinal)
	pod.Labels[appsv1.StatefulSetRevisionLabel] = revision
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, set.Spec.ServiceName
	moves := append(claimVolumes(set, pod), move{"spec.hostname", "metadata.name"}, move{"spec.subdomain", "spec.serviceName"})
	return newGeneratedPod(pod, set, "statefulset-controller", append(moves, templateMoves()...))
}

// claimVolumes adds the volumes of the claim templates before those of the Pod template that have
// other names (updateStorage), and returns the field of each. The controller adds the claims in
// random order.
func claimVolumes(set *appsv1.StatefulSet, pod *corev1.Pod) []move {
	volumes, moves := []corev1.Volume{}, []move{}
	add := func(v corev1.Volume, written string, i int) {
		moves = append(moves, move{fmt.Sprintf("spec.volumes[%d]", len(volumes)), fmt.Sprintf("%s[%d]", written, i)})
		volumes = append(volumes, v)
	}
	claims := map[string]bool{}
	for i, claim := range set.Spec.VolumeClaimTemplates {
		claims[claim.Name] = true
		source := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-" + pod.Name}
		add(corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: source}}, "spec.volumeClaimTemplates", i)
	}
	for i, v := range pod.Spec.Volumes {
		if !claims[v.Name] {
			add(v, "spec.template.spec.volumes", i)
		}
	}
	pod.Spec.Volumes = volumes
	return moves
}

// statefulRevision returns the name of the revision of a StatefulSet, with the hash of its template
// in the form of a patch (newRevision, getPatch).
func statefulRevision(set *appsv1.StatefulSet, kind schema.GroupVersionKind) (string, error) {
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&set.Spec.Template)
	if err != nil {
		return "", fmt.Errorf("encode the template of StatefulSet %s: %w", set.Name, err)
	}
	template["$patch"] = "replace"
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": template}})
	if err != nil {
		return "", fmt.Errorf("encode the template of StatefulSet %s: %w", set.Name, err)
	}
	revision, err := history.NewControllerRevision(set, kind, set.Spec.Template.Labels, runtime.RawExtension{Raw: patch}, firstRevision, new(int32))
	if err != nil {
		return "", fmt.Errorf("make the revision of StatefulSet %s: %w", set.Name, err)
	}
	return revision.Name, nil
}
