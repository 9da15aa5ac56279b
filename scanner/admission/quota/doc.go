// Package quota says what the ResourceQuota plugin of an API server says of a request, also
// where it is not known how much of a quota is used.
package quota
