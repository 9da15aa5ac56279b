package size

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// MaxRequest is the maximum size of the body of a request, in bytes (k8s.io/apiserver/pkg/server,
	// NewConfig).
	MaxRequest = 3 << 20
	// MaxStored is the maximum size of a request to etcd, in bytes: the default of its flag
	// --max-request-bytes.
	MaxStored = 1536 << 10
	// maxSent is the maximum size of a message of etcd's client, in bytes (go.etcd.io/etcd/client/v3,
	// defaultMaxCallSendMsgSize).
	maxSent = 2 << 20
	// around is an upper bound of the size of a request to etcd without the object: its key, up to
	// three times, and the revision that it is compared with.
	around = 2 << 10
)

// Request returns the refusal of a request whose body has that many bytes, nil for none.
func Request(bytes int) error {
	if bytes <= MaxRequest {
		return nil
	}
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", MaxRequest))
}

// Stored returns the refusal of a stored object of that many bytes, nil for none. An API server
// returns the error of etcd or its client unchanged. Just below the limit it is an error that is no
// refusal: the result is not known.
func Stored(bytes int) error {
	message := "etcdserver: request is too large"
	switch {
	case bytes <= MaxStored-around:
		return nil
	case bytes <= MaxStored:
		return fmt.Errorf("an object of %d bytes may be more than etcd takes: %d with its key", bytes, MaxStored)
	case bytes > maxSent:
		message = fmt.Sprintf("rpc error: code = ResourceExhausted desc = trying to send message larger than max (%d vs. %d)", bytes, maxSent)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: message}}
}
