package live

import (
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A call that makes the server panic gets an answer, also one of kubectl through the proxy.
func TestPanicTransport(t *testing.T) {
	t.Parallel()
	panics := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	panics.EnableHTTP2 = true
	panics.StartTLS()
	defer panics.Close()
	client := panics.Client()
	client.Transport = panicTransport{client.Transport}
	s := &Server{url: panics.URL, client: client}
	answer, err := s.Do(t.Context(), Call{Method: http.MethodPatch, Path: "/api"})
	if err != nil {
		t.Fatal(err)
	}
	if status := answer.Status(); answer.OK() || status.Reason != metav1.StatusReasonInternalError {
		t.Errorf("the answer is %+v", status)
	}
}
