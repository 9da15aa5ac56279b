// Package app is preadmit's identity on GitHub: a GitHub App. It holds the App's
// credentials, and makes of them tokens that are narrowed to one repository and to what
// a scan needs, clients that use them, and the questions that only the App may ask.
//
// Secrets - the private key, tokens, the client secret, webhook secrets - are in no error
// and no log: answers that refuse something are cleaned of whatever looks like one before
// anything reads them.
//
// App keeps the credentials, which Reload replaces while the service runs, and signs a
// JSON Web Token with them for what only the App may ask: its installations, deliveries
// and itself. Repository returns an Access, whose clients use a token of the installation
// that is narrowed to one repository and the permissions that a scan needs (permissions);
// tokens are cached until shortly before they expire. Installations that are gone or
// suspended are ErrGone and ErrSuspended, refused credentials ErrCredentials.
//
// Check compares the App's settings with what the service needs; manifest makes an App
// on GitHub for /setup; deliveries lists GitHub's attempts, for package reconcile. A
// meter counts all requests.
package app
