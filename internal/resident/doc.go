// Package resident keeps the resident memory of a process small.
package resident
