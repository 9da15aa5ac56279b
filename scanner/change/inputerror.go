package change

// InputError is a mistake in what the user gave to a scan - a glob, a path of the
// configuration, a file of policies - as opposed to a scan that failed.
type InputError struct {
	// What names the input as the user gave it.
	What string
	Err  error
}

func (e *InputError) Error() string { return e.What + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the input.
func (e *InputError) Unwrap() error { return e.Err }
