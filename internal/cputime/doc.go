// Package cputime measures the processor time that a process, or a part of a test, uses. Unlike
// wall-clock time it does not depend on the load of the machine.
package cputime
