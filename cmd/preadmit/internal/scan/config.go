package scan

import (
	"os"

	"github.com/preadmit/preadmit/cmd/preadmit/internal/cli"
	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/scanner/config"
)

// LoadConfig reads the configuration in force, and overrides it with the flags. The
// diagnostics are about a change of the configuration.
func LoadConfig(f *Flags, c *Change) (config.Config, []report.Diagnostic, error) {
	if f.Given("config") {
		cfg, err := readConfig(f.Config)
		f.apply(&cfg)
		return cfg, nil, err
	}
	cfg, remarks, err := config.Load(c.baseFS(), c.Head.FS)
	switch {
	case err != nil && c.Base != nil:
		return cfg, nil, cli.Usagef("configuration of the base:\n%w\nmend it there first, or give another with --config", err)
	case err != nil:
		return cfg, nil, cli.Usagef("configuration:\n%w", err)
	}
	f.apply(&cfg)
	return cfg, remarks, nil
}

func readConfig(path string) (config.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return config.Config{}, cli.Usagef("--config: %w", err)
	}
	cfg, err := config.Parse(path, data)
	if err != nil {
		return config.Config{}, cli.Usagef("configuration:\n%w", err)
	}
	return *cfg, nil
}
