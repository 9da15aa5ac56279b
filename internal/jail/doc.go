// Package jail runs a program on input that may take it over: with an empty environment,
// access to given files only, no network, no access to other processes, and limits on
// memory, processor time and output. It needs Linux.
//
// The program is the caller's own, started again:
//
//   - The parent calls [Command.Start]. It starts the program with pipes for input,
//     output and results, watches memory and output, and kills the whole process group
//     when a limit is exceeded or the context ends.
//   - The init of this package, in the program, drops its capabilities and makes the kernel
//     reject everything else from then on: Landlock for files, seccomp for system calls,
//     resource limits. Then it executes the program again, so that all threads of the new
//     image start in the jail.
//   - The new image calls [Enter] before it reads anything.
//   - [Child.Wait] returns when the program and all processes that it started have ended.
//
// The program can still use the processor and memory up to the limits, execute itself,
// write anything to the parent, and find out whether a path exists and who owns it
// (Linux cannot restrict stat).
package jail
