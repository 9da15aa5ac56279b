package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preadmit/preadmit/internal/strictyaml"
)

// FileName is the name of the configuration at the top of a repository.
const FileName = ".preadmit.yaml"

// Kind is the kind of a configuration file; its apiVersion is report.APIVersion.
const Kind = "ScanConfig"

// SnapshotKind is the kind of the first document in a file of preadmit snapshot.
const SnapshotKind = "ClusterSnapshot"

// Parse reads a configuration strictly: an unknown or repeated key, or a value that has the wrong
// type or is invalid, is an error at its line. The path is only used in messages. Errors are
// *strictyaml.Error, joined in the order of the file.
func Parse(path string, data []byte) (*Config, error) {
	document, err := strictyaml.Parse(path, data)
	if err != nil {
		return nil, err
	}
	if document.Empty() {
		return nil, document.Error("", "the file is empty: it needs at least apiVersion and kind")
	}
	config := &Config{document: document}
	_ = document.Decode(config) // document.Err has the errors
	(&checker{document}).config(config)
	if err := document.Err(); err != nil {
		return nil, err
	}
	config.complete()
	return config, nil
}

// Missing returns the mistake that a path is not in the repository which fields with one of these keys have: at its
// place in the file, if it is written there.
func (c *Config) Missing(path string, keys ...string) error {
	message := fmt.Sprintf("there is no file or directory %s in the repository", path)
	if c.document != nil {
		e := c.document.Find(path, func(key string) bool {
			return slices.ContainsFunc(keys, func(k string) bool { return key == k || strings.HasPrefix(last(key), k+"[") })
		}, "%s", message)
		if e != nil {
			return e
		}
	}
	return fmt.Errorf("%s of the configuration: %s", strings.Join(keys, " or "), message)
}

// last returns the last part of a key.
func last(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
