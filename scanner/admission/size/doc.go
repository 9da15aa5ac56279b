// Package size has the size limits of requests to an API server and of objects in etcd, and the
// errors about larger ones.
package size
