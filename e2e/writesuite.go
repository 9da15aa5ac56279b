package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/preadmit/preadmit/scanner/admission"
	"github.com/preadmit/preadmit/scanner/suite"
)

// writeSuite writes a suite with the answers to a new directory.
func writeSuite(dir string, s *suite.Suite, expected *suite.Expected) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write a suite: %w", err)
	}
	return errors.Join(
		writeYAML(filepath.Join(dir, suite.RequestsFile), map[string]any{"requests": s.Requests}),
		writeObjects(filepath.Join(dir, suite.ContextFile), s.Context),
		writeObjects(filepath.Join(dir, suite.PoliciesFile), s.Policies),
		writeYAML(filepath.Join(dir, suite.ExpectedFile), expected),
	)
}

func writeObjects(path string, objects []*admission.Object) error {
	if len(objects) == 0 {
		return nil
	}
	var documents [][]byte
	for _, o := range objects {
		data, err := suite.YAML(o.Content())
		if err != nil {
			return fmt.Errorf("encode %s: %w", o.Name(), err)
		}
		documents = append(documents, data)
	}
	return os.WriteFile(path, bytes.Join(documents, []byte("---\n")), 0o644)
}

func writeYAML(path string, v any) error {
	data, err := suite.YAML(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return os.WriteFile(path, data, 0o644)
}
