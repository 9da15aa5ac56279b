package policy_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	k8sadmission "k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/client-go/informers"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	corev1 "k8s.io/api/core/v1"

	"github.com/preadmit/preadmit/internal/testall"
	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/policy"
)

// TestMain silences upstream's log of annotations that it could not set twice.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	testall.Heap()
	os.Exit(m.Run())
}

// oracle judges with the API server's own dispatcher and validator.
type oracle struct {
	cluster    *admission.Cluster
	state      []*admission.Object
	set        *policy.Set
	compiler   *upstreamCompiler
	hooks      []validating.PolicyHook
	dispatcher generic.Dispatcher[validating.PolicyHook]
}

func newOracle(t testing.TB, cluster *admission.Cluster, state []*admission.Object, set *policy.Set) *oracle {
	return newUpstreamCompiler().oracle(t, cluster, state, set)
}

// oracle returns an oracle; policies are compiled once for all oracles of a compiler.
func (c *upstreamCompiler) oracle(t testing.TB, cluster *admission.Cluster, state []*admission.Object, set *policy.Set) *oracle {
	matcher := generic.NewPolicyMatcher(matching.NewMatcher(namespaces{cluster}, admission.Client{Cluster: cluster}))
	a, _ := cluster.Authorizer()
	o := &oracle{cluster: cluster, state: state, set: set, compiler: c, dispatcher: validating.NewDispatcher(a, matcher)}
	for _, p := range set.Policies {
		var bindings []*v1.ValidatingAdmissionPolicyBinding
		for _, b := range set.Bindings {
			if b.Spec.PolicyName == p.Name {
				bindings = append(bindings, b.ValidatingAdmissionPolicyBinding)
			}
		}
		if len(bindings) > 0 {
			o.hooks = append(o.hooks, o.hook(t, p.ValidatingAdmissionPolicy, bindings))
		}
	}
	return o
}

func (o *oracle) hook(t testing.TB, p *v1.ValidatingAdmissionPolicy, bindings []*v1.ValidatingAdmissionPolicyBinding) validating.PolicyHook {
	h := validating.PolicyHook{Policy: p, Bindings: bindings, Evaluator: o.compiler.compile(t, p)}
	if p.Spec.ParamKind == nil {
		return h
	}
	kind := schema.FromAPIVersionAndKind(p.Spec.ParamKind.APIVersion, p.Spec.ParamKind.Kind)
	r, ok := o.cluster.Resource(kind)
	if !ok {
		h.ConfigurationError = fmt.Errorf("failed to find resource referenced by paramKind: '%v'", kind)
		return h
	}
	h.ParamScope = meta.RESTScopeRoot
	if r.Namespaced {
		h.ParamScope = meta.RESTScopeNamespace
	}
	h.ParamInformer = paramInformer{o.params(t, r, kind)}
	return h
}

// params returns the lister of a param kind, filled like an informer's.
func (o *oracle) params(t testing.TB, r admission.Resource, kind schema.GroupVersionKind) cache.GenericLister {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, obj := range o.state {
		if obj.GroupVersionKind().GroupKind() != kind.GroupKind() {
			continue
		}
		stored, err := o.cluster.Stored(obj, kind)
		if err == nil {
			err = indexer.Add(stored)
		}
		if err != nil {
			t.Errorf("param %s: %v", obj.Name(), err)
		}
	}
	return sortedLister{cache.NewGenericLister(indexer, r.GroupResource())}
}

// sortedLister sorts by name, while upstream's order is random.
type sortedLister struct{ cache.GenericLister }

func (l sortedLister) List(s labels.Selector) ([]runtime.Object, error) {
	return sorted(l.GenericLister.List(s))
}

func (l sortedLister) ByNamespace(ns string) cache.GenericNamespaceLister {
	return sortedNamespaceLister{l.GenericLister.ByNamespace(ns)}
}

type sortedNamespaceLister struct{ cache.GenericNamespaceLister }

func (l sortedNamespaceLister) List(s labels.Selector) ([]runtime.Object, error) {
	return sorted(l.GenericNamespaceLister.List(s))
}

func sorted(list []runtime.Object, err error) ([]runtime.Object, error) {
	name := func(o runtime.Object) string { m, _ := meta.Accessor(o); return m.GetName() }
	sort.Slice(list, func(i, j int) bool { return name(list[i]) < name(list[j]) })
	return list, err
}

type paramInformer struct{ lister cache.GenericLister }

func (i paramInformer) Lister() cache.GenericLister         { return i.lister }
func (i paramInformer) Informer() cache.SharedIndexInformer { return synced{} }

type synced struct{ cache.SharedIndexInformer }

func (synced) HasSynced() bool { return true }

var _ informers.GenericInformer = paramInformer{}

// upstreamCompiler caches compiled policies by their text: compiling is most of the work of a
// comparison. The cache is bounded by mostCompiled.
type upstreamCompiler struct {
	environment func() (*environment.EnvSet, error)
	known       map[[sha256.Size]byte]validating.Validator
	mutators    map[*v1.MutatingAdmissionPolicy]mutating.PolicyEvaluator
	// constant compiles policies without variables: only variables change a compiler.
	constant func() (*plugincel.CompositedCompiler, error)
}

const mostCompiled = 300

func newUpstreamCompiler() *upstreamCompiler {
	return compilerIn(func() (*environment.EnvSet, error) {
		return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil
	})
}

func compilerIn(environment func() (*environment.EnvSet, error)) *upstreamCompiler {
	c := &upstreamCompiler{environment: environment, known: map[[sha256.Size]byte]validating.Validator{}, mutators: map[*v1.MutatingAdmissionPolicy]mutating.PolicyEvaluator{}}
	c.constant = sync.OnceValues(c.compiler)
	return c
}

func (c *upstreamCompiler) compiler() (*plugincel.CompositedCompiler, error) {
	set, err := c.environment()
	if err != nil {
		return nil, err
	}
	return plugincel.NewCompositedCompiler(set)
}

func (c *upstreamCompiler) compile(t testing.TB, p *v1.ValidatingAdmissionPolicy) validating.Validator {
	text, err := json.Marshal(p.Spec)
	if err != nil {
		t.Fatal(err)
	}
	key := sha256.Sum256(text)
	if v, ok := c.known[key]; ok {
		return v
	}
	v := c.newPolicy(t, p)
	c.known[key] = v
	return v
}

// newPolicy compiles a policy like the plugin's compilePolicy, which is not exported.
func (c *upstreamCompiler) newPolicy(t testing.TB, p *v1.ValidatingAdmissionPolicy) validating.Validator {
	compiler, err := c.constant()
	if len(p.Spec.Variables) > 0 {
		compiler, err = c.compiler()
	}
	if err != nil {
		t.Fatal(err)
	}
	full := plugincel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil, HasAuthorizer: true}
	message := plugincel.OptionalVariableDeclarations{HasParams: p.Spec.ParamKind != nil}
	for _, v := range p.Spec.Variables {
		compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, full, environment.StoredExpressions)
	}
	var conditions, validations, messages, annotations []plugincel.ExpressionAccessor
	for i := range p.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i]))
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, &validating.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		var m plugincel.ExpressionAccessor
		if v.MessageExpression != "" {
			m = &validating.MessageExpressionCondition{MessageExpression: v.MessageExpression}
		}
		messages = append(messages, m)
	}
	for _, a := range p.Spec.AuditAnnotations {
		annotations = append(annotations, &validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression})
	}
	compile := func(e []plugincel.ExpressionAccessor, o plugincel.OptionalVariableDeclarations) plugincel.ConditionEvaluator {
		return compiler.CompileCondition(e, o, environment.StoredExpressions)
	}
	var matcher matchconditions.Matcher
	if len(conditions) > 0 {
		matcher = matchconditions.NewMatcher(compile(conditions, full), p.Spec.FailurePolicy, "policy", "validate", p.Name)
	}
	return validating.NewValidator(compile(validations, full), matcher, compile(annotations, full), compile(messages, message), p.Spec.FailurePolicy, nil)
}

// namespaces lists the namespaces of a cluster.
type namespaces struct{ cluster *admission.Cluster }

func (n namespaces) Get(name string) (*corev1.Namespace, error) {
	ns, _, err := n.cluster.Namespace(name)
	if err == nil {
		ns = ns.DeepCopy()
		ns.TypeMeta = metav1.TypeMeta{} // as an informer returns it
	}
	return ns, err
}

func (n namespaces) List(labels.Selector) ([]*corev1.Namespace, error) {
	return nil, errors.New("never listed")
}

var _ corev1listers.NamespaceLister = namespaces{}

// annotated keeps the audit annotations of a request: the first of each key.
type annotated struct {
	k8sadmission.Attributes
	annotations map[string]string
}

func (a *annotated) AddAnnotation(key, value string) error {
	if _, ok := a.annotations[key]; ok {
		return errors.New("set already")
	}
	a.annotations[key] = value
	return nil
}

// verdict returns upstream's answer.
func (o *oracle) verdict(req *admission.Request) policy.Verdict {
	attributes := &annotated{Attributes: req.Attributes, annotations: map[string]string{}}
	recorder := httptest.NewRecorder()
	var err error
	filters.WithWarningRecorder(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		err = o.dispatcher.Dispatch(r.Context(), attributes, req.Interfaces, o.hooks)
	})).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/", nil))
	headers, _ := utilnet.ParseWarningHeaders(recorder.Header()["Warning"])
	v := policy.Verdict{Allowed: err == nil, AuditAnnotations: attributes.annotations}
	for _, h := range headers {
		v.Warnings = append(v.Warnings, h.Text)
	}
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		v.Code, v.Reason, v.Message = status.ErrStatus.Code, status.ErrStatus.Reason, status.ErrStatus.Message
	} else if err != nil {
		v.Message = err.Error()
	}
	return v
}
