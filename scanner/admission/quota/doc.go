// Package quota returns the responses of the ResourceQuota plugin of an API server, even if the usage
// of a quota is not known.
package quota
