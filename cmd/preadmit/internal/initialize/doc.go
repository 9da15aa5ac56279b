// Package initialize is preadmit init: it inspects a repository and writes the first files for
// it. look.go inspects the repository, and files.go writes the files, from templates in the
// directory files. Existing files are never overwritten. The tests run the command, in package
// main.
package initialize
