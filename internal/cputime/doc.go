// Package cputime measures the processor time that a process, or a part of a test, uses. Unlike
// the time of a clock it does not depend on what else the machine does.
package cputime
