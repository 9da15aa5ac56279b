// Package junit writes JUnit XML, as Jenkins' junit-10.xsd describes it and CI systems
// read it. Write writes the report of a scan, WriteSuites any suites.
package junit
