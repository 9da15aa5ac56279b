// Package mistyped finds the fields of an object that an API server, or a client, cannot decode: values of
// another type than the kind has, fields that it does not have. Error messages name such fields in several
// ways, or not at all.
package mistyped
