package main

// Where the system has no certificates of authorities, as in the image, those of Mozilla
// as of the build are used.
import _ "golang.org/x/crypto/x509roots/fallback"
