package deploy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preadmit/preadmit/internal/deploytest"
	"github.com/preadmit/preadmit/webhooks"
)

// own are the settings that the kustomizations leave to whoever uses them.
var own = map[string]string{
	"PREADMIT_PUBLIC_URL": "https://preadmit.example.com", "PREADMIT_APP_ID": "7", "PREADMIT_APP_CLIENT_ID": "Iv1.abc",
}

// deployed is a workload with the configuration that it is given.
type deployed struct {
	objects []deploytest.Object
	pod     corev1.PodTemplateSpec
	claims  []corev1.PersistentVolumeClaim
	config  *webhooks.Config
}

func (d *deployed) container() *corev1.Container { return &d.pod.Spec.Containers[0] }

// eachForm runs a test with every way to deploy preadmit.
func eachForm(t *testing.T, test func(t *testing.T, d *deployed)) {
	t.Helper()
	for _, f := range deploytest.Forms(t, ".") {
		t.Run(f.Name, func(t *testing.T) {
			d := &deployed{objects: deploytest.Objects(t, f.Tree)}
			workload := deploytest.One(t, d.objects, "StatefulSet", "Deployment")
			var set appsv1.StatefulSet // a Deployment has the same fields, but for the claims
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(workload, &set); err != nil {
				t.Fatal(err)
			}
			d.pod, d.claims = set.Spec.Template, set.Spec.VolumeClaimTemplates
			config, err := d.readConfig(t, func(name string) string {
				if strings.HasPrefix(f.Name, "base") || f.Name == "external-nats" {
					return own[name]
				}
				return ""
			})
			if err != nil {
				t.Fatal(err)
			}
			d.config = config
			test(t, d)
		})
	}
}

// readConfig reads the configuration as the service does, with more environment.
func (d *deployed) readConfig(t *testing.T, more func(string) string) (*webhooks.Config, error) {
	t.Helper()
	data := deploytest.One(t, d.objects, "ConfigMap").Field("data['serve.yaml']").(string)
	return webhooks.ReadConfig(webhooks.Sources{File: "serve.yaml", Data: []byte(data), Getenv: func(name string) string {
		for _, e := range d.container().Env {
			if e.Name == name {
				return e.Value
			}
		}
		return more(name)
	}})
}

// TestOwnSettings: the base lacks three settings, and the service says so.
func TestOwnSettings(t *testing.T) {
	d := &deployed{objects: formObjects(t, "base"), pod: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 1)}}}
	_, err := d.readConfig(t, func(string) string { return "" })
	if err == nil {
		t.Fatal("the base lacks nothing")
	}
	var keys []string
	for _, line := range strings.Split(err.Error(), "\n") {
		key, _, _ := strings.Cut(line, ": ")
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if diff := cmp.Diff([]string{"app.clientID", "app.id", "publicURL"}, slices.Compact(keys)); diff != "" {
		t.Errorf("missing settings (-want +got):\n%s", diff)
	}
}

// TestMemory: all scans that may run at a time fit in, and the service beside them. Where
// one process of a container has no memory left, the kernel ends all of them.
func TestMemory(t *testing.T) {
	eachForm(t, func(t *testing.T, d *deployed) {
		service := d.container().Resources.Limits.Memory().Value() - int64(d.config.Scan.Concurrency)*int64(d.config.Scan.Memory)
		if service < 1<<30 {
			t.Errorf("the memory limit leaves %d bytes for the service", service)
		}
		for _, e := range d.container().Env {
			if soft, ok := strings.CutSuffix(e.Value, "B"); e.Name == "GOMEMLIMIT" && (!ok || value(t, soft) > service) {
				t.Errorf("GOMEMLIMIT is %s, more than is left for the service", e.Value)
			}
		}
	})
}

// TestStorage: what is fetched and what is kept have their places.
func TestStorage(t *testing.T) {
	eachForm(t, func(t *testing.T, d *deployed) {
		temporary := int64(0)
		for _, v := range d.pod.Spec.Volumes {
			if v.Name == "scratch" {
				temporary = v.EmptyDir.SizeLimit.Value()
			}
		}
		// What is fetched is stored as it comes, with an index of it.
		if need := int64(d.config.Scan.Concurrency) * int64(d.config.Fetch.Size) * 3 / 2; temporary < need {
			t.Errorf("there are %d bytes for it, and fetching may take %d", temporary, need)
		}
		if limits := d.container().Resources.Limits; limits.StorageEphemeral().Value() <= temporary {
			t.Errorf("the Pod is evicted before that is full: %s", limits.StorageEphemeral())
		}
		for _, claim := range d.claims {
			if have := claim.Spec.Resources.Requests.Storage().Value(); have < int64(d.config.Keep.Size)*3/2 {
				t.Errorf("the volume has %d bytes, and reports may take %s", have, d.config.Keep.Size)
			}
		}
		if external := d.config.NATS.URL != ""; external != (deploytest.One(t, d.objects, "Deployment") != nil) {
			t.Errorf("the queue is outside: %v, but the workload is of the other kind", external)
		}
	})
}

// closing is how long the service may take after it is drained: 5 seconds for requests, 10
// for the queue, and some for the machine.
const closing = 20 * time.Second

// TestEnd: there is time to stop before the Pod is killed.
func TestEnd(t *testing.T) {
	eachForm(t, func(t *testing.T, d *deployed) {
		grace := time.Duration(*d.pod.Spec.TerminationGracePeriodSeconds) * time.Second
		wait := time.Duration(d.container().Lifecycle.PreStop.Sleep.Seconds) * time.Second
		if least := wait + time.Duration(d.config.Drain) + closing; grace < least {
			t.Errorf("the Pod is killed after %s, and needs %s", grace, least)
		}
	})
}

// TestPorts: the service listens where the Pod says, on all addresses, and is asked there.
func TestPorts(t *testing.T) {
	eachForm(t, func(t *testing.T, d *deployed) {
		for name, address := range map[string]string{"http": d.config.Listen, "metrics": d.config.MetricsListen} {
			host, port, _ := strings.Cut(address, ":")
			i := slices.IndexFunc(d.container().Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
			if i < 0 || host != "" && host != "0.0.0.0" || value(t, port) != int64(d.container().Ports[i].ContainerPort) {
				t.Errorf("%s: listens on %q, the ports are %v", name, address, d.container().Ports)
			}
		}
		for path, probe := range map[string]*corev1.Probe{"/healthz": d.container().LivenessProbe, "/readyz": d.container().ReadinessProbe} {
			if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "http" {
				t.Errorf("probe of %s: %+v", path, probe.HTTPGet)
			}
		}
	})
}

// TestFiles: what the configuration names is on a volume, and what is written to can be.
func TestFiles(t *testing.T) {
	eachForm(t, func(t *testing.T, d *deployed) {
		app, nats := d.config.App, d.config.NATS
		for _, file := range []string{app.PrivateKeyFile, app.WebhookSecretFile, app.ClientSecretFile, nats.CredentialsFile, nats.CAFile} {
			if m := d.mount(file); file != "" && (m.Name != "secrets" || !m.ReadOnly || m.SubPath != "") {
				t.Errorf("%s: on %+v", file, m)
			}
		}
		for _, arg := range d.container().Args {
			if file, ok := strings.CutPrefix(arg, "--config="); ok && d.mount(file).Name != "config" {
				t.Errorf("%s is on %+v", file, d.mount(file))
			}
		}
		scratch := d.config.DataDir + "/tmp"
		if i := slices.Index(d.container().Env, corev1.EnvVar{Name: "TMPDIR", Value: scratch}); i < 0 {
			t.Errorf("temporary files are not in %s: %v", scratch, d.container().Env)
		}
		for dir, name := range map[string]string{d.config.DataDir: "data", scratch: "scratch"} {
			if m := d.mount(dir); m.Name != name || m.ReadOnly {
				t.Errorf("%s: on %+v", dir, m)
			}
		}
	})
}

// mount is the one that holds a file or directory.
func (d *deployed) mount(file string) corev1.VolumeMount {
	var found corev1.VolumeMount
	for _, m := range d.container().VolumeMounts {
		if (file == m.MountPath || strings.HasPrefix(file, m.MountPath+"/")) && len(m.MountPath) > len(found.MountPath) {
			found = m
		}
	}
	return found
}

// TestSelectors: whatever is about the Pods selects them.
func TestSelectors(t *testing.T) {
	eachForm(t, func(t *testing.T, d *deployed) {
		found := 0
		for _, where := range []struct{ kind, field string }{
			{"Service", "spec.selector"}, {"NetworkPolicy", "spec.podSelector.matchLabels"},
			{"PodDisruptionBudget", "spec.selector.matchLabels"}, {"ServiceMonitor", "spec.selector.matchLabels"},
			{"StatefulSet", "spec.selector.matchLabels"}, {"Deployment", "spec.selector.matchLabels"},
		} {
			o := deploytest.One(t, d.objects, where.kind)
			if o == nil {
				continue
			}
			found++
			selector, _ := o.Field(where.field).(map[string]any)
			for key, want := range selector {
				if d.pod.Labels[key] != want {
					t.Errorf("%s selects %v, the Pods have %v", where.kind, selector, d.pod.Labels)
				}
			}
			if len(selector) == 0 {
				t.Errorf("%s selects everything", where.kind)
			}
		}
		if minimal := d.pod.Spec.ServiceAccountName == "default"; found < 4 && !minimal {
			t.Errorf("only %d objects select Pods: a NetworkPolicy or a PodDisruptionBudget is missing", found)
		}
	})
}

// TestSecrets: only values with secrets make a Secret.
func TestSecrets(t *testing.T) {
	for _, f := range deploytest.Forms(t, ".") {
		secret := deploytest.One(t, deploytest.Objects(t, f.Tree), "Secret")
		if (secret != nil) != (f.Name == "values-secret") {
			t.Errorf("%s: Secret %v", f.Name, secret)
		}
		if secret != nil && secret.Field("stringData['webhook-secret']") != "not: a secret" {
			t.Errorf("%s: %v", f.Name, secret)
		}
	}
}

// value reads a quantity.
func value(t *testing.T, text string) int64 {
	t.Helper()
	q, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return q.Value()
}
