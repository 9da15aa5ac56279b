package chart

// Definitions returns the files in crds/ of a chart in a gzipped tar archive, and of its dependencies: those
// that Helm treats as CustomResourceDefinitions (CRDObjects).
func Definitions(data []byte, limits Limits) ([]File, error) {
	c, err := FromArchive(data, limits)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, crd := range c.CRDObjects() {
		files = append(files, File{Name: crd.Filename, Data: crd.File.Data})
	}
	return files, nil
}
