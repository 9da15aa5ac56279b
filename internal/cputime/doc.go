// Package cputime measures the processor time of a part of a test. Unlike the time of a
// clock it does not depend on what else the machine does.
package cputime
