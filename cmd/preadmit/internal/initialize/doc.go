// Package initialize is preadmit init: it looks at a repository and writes the files to begin
// with. look.go finds out what is there, files.go has the files, templates in the directory
// files; what exists is never overwritten. The tests run the command, in package main.
package initialize
