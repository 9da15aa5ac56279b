package change

// InputError is a mistake in the user's input to a scan, such as a glob, a path in the
// configuration or a file of policies, as opposed to a scan that failed.
type InputError struct {
	// What names the input in the user's terms; it is empty if Err does.
	What string
	Err  error
}

func (e *InputError) Error() string {
	if e.What == "" {
		return e.Err.Error()
	}
	return e.What + ": " + e.Err.Error()
}

// Unwrap returns the underlying error.
func (e *InputError) Unwrap() error { return e.Err }
