// Package artifacts is what preadmit fetch and the commands that render have to do with
// artifacts: where they are kept ([Flags]), which a tree asks for ([Needed]), which the lock
// has, and which may be fetched for a change.
package artifacts
