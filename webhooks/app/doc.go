// Package app is preadmit's identity on GitHub: a GitHub App. It holds the App's credentials,
// issues tokens restricted to one repository and to what a scan needs, clients that use them,
// and sends the requests that only the App may send.
//
// Secrets - the private key, tokens, the client secret, webhook secrets - appear in no error and
// no log: error responses are cleaned of everything that looks like a secret before anything
// reads them.
//
// App keeps the credentials, which Reload replaces while the service runs. It signs a JSON Web
// Token with them for requests as the App: for its installations, its deliveries and itself.
// Repository returns an Access, whose clients use a token of the installation that is restricted
// to one repository and the permissions that a scan needs (permissions); tokens are cached until
// shortly before they expire. Installations that are gone or suspended give ErrGone and
// ErrSuspended, rejected credentials ErrCredentials.
//
// Check validates the App's credentials; manifest creates an App on GitHub for /setup; deliveries
// lists GitHub's attempts, for package reconcile. A meter counts all requests.
package app
