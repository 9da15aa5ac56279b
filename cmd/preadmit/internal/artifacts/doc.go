// Package artifacts handles artifacts for preadmit fetch and the commands that render: where
// they are stored ([Flags]), which ones a tree needs ([Tree.Needed]), and which ones are locked
// or may be fetched for a change ([Change]).
package artifacts
