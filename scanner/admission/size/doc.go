// Package size has how large requests to an API server and objects in etcd may be, and what is
// said of those that are larger.
package size
