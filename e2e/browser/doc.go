// Package browser checks HTML pages in Chromium: in light and in dark, on a wide screen
// and on a telephone, and with axe-core, a tool for accessibility. Its tests check
// preadmit's HTML reports; e2e/service checks the pages of the service with it.
package browser
