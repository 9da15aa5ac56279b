package builtin

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// encoding is a value with a protobuf encoding. Encoding writes the text of a quantity into it.
type encoding interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// message is an object with a protobuf encoding, which has no apiVersion and kind.
type message interface {
	runtime.Object
	encoding
}

// Stored returns an object as a controller reads it. A server stores and sends objects in protobuf, in which
// quantities have their canonical text (2Gi for 2048Mi): it is hashed with a Pod template.
func Stored(obj runtime.Object) (runtime.Object, error) {
	from, ok := obj.DeepCopyObject().(message)
	if !ok {
		return obj, nil
	}
	data, err := from.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	to := reflect.New(reflect.TypeOf(from).Elem()).Interface().(message)
	if err := to.Unmarshal(data); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return to, nil
}
