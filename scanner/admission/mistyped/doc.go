// Package mistyped finds the fields of an object that keep an API server, or a client of one, from reading the
// object: values of another type than the kind has, fields that it does not have. What is said of them names a
// field in one of several ways, or in none.
package mistyped
