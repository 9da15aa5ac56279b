// Package refusal sorts the errors with which an API server refuses an object. A server finds some of
// them by iterating over maps, in random order; here equal requests get equal responses.
package refusal
