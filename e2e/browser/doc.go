// Package browser checks HTML pages in Chromium: in light and dark mode, on a wide screen
// and a phone, and with axe-core, a tool for accessibility. Its tests check preadmit's HTML
// reports; e2e/service uses it to check the pages of the service.
package browser
