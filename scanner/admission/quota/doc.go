// Package quota answers a request as the ResourceQuota plugin of an API server does, also
// where it is not known how much of a quota is used.
package quota
