// Package services assigns addresses and node ports to Services, as an API server does before it
// stores them.
package services
