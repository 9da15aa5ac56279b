package config

import "github.com/preadmit/preadmit/internal/strictyaml"

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
	config := &Config{}
	_ = document.Decode(config) // document.Err has the errors
	(&checker{document}).config(config)
	if err := document.Err(); err != nil {
		return nil, err
	}
	config.complete()
	return config, nil
}
