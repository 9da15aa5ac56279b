package main

import (
	"os"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner"
)

// loadConfig reads the configuration in force and puts the flags over it. The
// diagnostics tell of a configuration that the change itself changes.
func loadConfig(f *scanFlags, c *change) (scanner.Config, []report.Diagnostic, error) {
	if f.given("config") {
		config, err := readConfig(f.config)
		f.apply(&config)
		return config, nil, err
	}
	config, remarks, err := scanner.LoadConfig(c.baseFS(), c.head.FS)
	switch {
	case err != nil && c.base != nil:
		return config, nil, usagef("configuration of the base:\n%w\nmend it there first, or give another with --config", err)
	case err != nil:
		return config, nil, usagef("configuration:\n%w", err)
	}
	f.apply(&config)
	return config, remarks, nil
}

func readConfig(path string) (scanner.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return scanner.Config{}, usagef("--config: %w", err)
	}
	config, err := scanner.ParseConfig(path, data)
	if err != nil {
		return scanner.Config{}, usagef("configuration:\n%w", err)
	}
	return *config, nil
}
