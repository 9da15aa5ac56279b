package main

// If the system has no certificates of authorities, as in the image, the certificates of
// Mozilla at the time of the build are used.
import _ "golang.org/x/crypto/x509roots/fallback"
