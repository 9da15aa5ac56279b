package main

import (
	"os"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
)

// loadConfig reads the configuration in force, and overrides it with the flags. The
// diagnostics are about a change of the configuration.
func loadConfig(f *scanFlags, c *change) (config.Config, []report.Diagnostic, error) {
	if f.given("config") {
		cfg, err := readConfig(f.config)
		f.apply(&cfg)
		return cfg, nil, err
	}
	cfg, remarks, err := config.Load(c.baseFS(), c.head.FS)
	switch {
	case err != nil && c.base != nil:
		return cfg, nil, usagef("configuration of the base:\n%w\nmend it there first, or give another with --config", err)
	case err != nil:
		return cfg, nil, usagef("configuration:\n%w", err)
	}
	f.apply(&cfg)
	return cfg, remarks, nil
}

func readConfig(path string) (config.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return config.Config{}, usagef("--config: %w", err)
	}
	cfg, err := config.Parse(path, data)
	if err != nil {
		return config.Config{}, usagef("configuration:\n%w", err)
	}
	return *cfg, nil
}
