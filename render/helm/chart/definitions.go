package chart

// Definitions returns the files of the directory crds of a chart that is a gzipped tar archive,
// and of its dependencies: what Helm takes for CustomResourceDefinitions (CRDObjects).
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
