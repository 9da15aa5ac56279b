// Package services assigns to Services what an API server assigns before it stores them:
// addresses and node ports.
package services
