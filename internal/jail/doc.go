// Package jail runs a program on input that may take it over: with an empty
// environment, only the files it is given, no network, no access to other processes,
// and limits on memory, processor time and output. It needs Linux.
//
// The program is the caller's own, started again:
//
//   - The parent calls [Command.Start]. It starts the program with pipes for input,
//     output and results, watches memory and output, and kills the whole process group
//     when a limit is passed or the context ends.
//   - The init of this package, in the program, drops its capabilities and has the kernel
//     refuse everything else from then on: Landlock for files, seccomp for system calls,
//     resource limits. Then it executes the program anew, so that all threads of the program
//     that continues were started in the jail.
//   - That calls [Enter] before it reads anything.
//   - [Child.Wait] returns when the program and all that it started have ended.
//
// What stays possible inside: to use the processor and memory up to the limits, to
// execute the program itself, to write anything to the parent, and to ask whether a
// path exists and who owns it (Linux cannot refuse stat).
package jail
