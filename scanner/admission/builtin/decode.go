package builtin

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Decode decodes an object of a built-in kind as the create handler of a kube-apiserver
// does, with the warnings of strict decoding
// (k8s.io/apiserver/pkg/endpoints/handlers/create.go, fieldValidation=Warn).
func Decode(kind schema.GroupVersionKind, body []byte) (runtime.Object, []string, error) {
	codec := CodecOf(kind.Group)
	into, err := codec.Scheme.New(schema.GroupVersionKind{Group: kind.Group, Version: runtime.APIVersionInternal, Kind: kind.Kind})
	if err != nil {
		return nil, nil, fmt.Errorf("make a %s: %w", kind.Kind, err)
	}
	obj, actual, err := codec.Decoder(kind.Group).Decode(body, &kind, into)
	if err == nil {
		return obj, nil, nil
	}
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok || obj == nil {
		return nil, nil, DecodeError(err, actual, kind)
	}
	return obj, texts(strict.Errors()), nil
}

// DecodeError returns the server's error for a decoding failure
// (k8s.io/apiserver/pkg/endpoints/handlers/rest.go, transformDecodeError).
func DecodeError(err error, actual *schema.GroupVersionKind, want schema.GroupVersionKind) error {
	if actual != nil && actual.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", actual.Kind, actual.Version, want.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v", want.Kind, err))
}

// StrictError returns the error of strict decoding for its warnings.
func StrictError(warnings []string) error {
	errs := make([]error, len(warnings))
	for i, w := range warnings {
		errs[i] = errors.New(w)
	}
	return runtime.NewStrictDecodingError(errs)
}

func texts(errs []error) []string {
	out := make([]string, len(errs))
	for i, err := range errs {
		out[i] = err.Error()
	}
	return out
}
