// Package refusal sorts the errors with which an API server refuses an object. A
// server goes through maps to find some of them, and reports them as they come; here equal
// requests get equal answers.
package refusal
