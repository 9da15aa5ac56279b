// Package junit writes JUnit XML for CI systems, as defined by Jenkins' junit-10.xsd. Write
// writes the report of a scan, WriteTest that of preadmit test, WriteSuites any suites.
package junit
