package gittest

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Init creates a repository like `git init`, with this branch. It runs git once per process, since
// starting git takes longer than writing the few files.
func Init(dir, branch string) error { return initialise(filepath.Join(dir, ".git"), branch, false) }

// InitBare is Init for a bare repository.
func InitBare(dir, branch string) error { return initialise(dir, branch, true) }

func initialise(dir, branch string, bare bool) error {
	once, _ := initialised.LoadOrStore(initKey{branch, bare}, sync.OnceValues(func() ([]initFile, error) { return runInit(branch, bare) }))
	files, err := once.(func() ([]initFile, error))()
	if err != nil {
		return err
	}
	for _, f := range files {
		name := filepath.Join(dir, f.name)
		if f.dir {
			err = os.MkdirAll(name, 0o755)
		} else {
			err = os.WriteFile(name, f.data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("make a repository: %w", err)
		}
	}
	return nil
}

// initialised has the files that git creates: initKey -> func() ([]initFile, error).
var initialised sync.Map

type initKey struct {
	branch string
	bare   bool
}

// initFile is a file or directory, by its path in the repository.
type initFile struct {
	name string
	dir  bool
	data []byte
}

func runInit(branch string, bare bool) (files []initFile, err error) {
	dir, err := os.MkdirTemp("", "gittest-")
	if err != nil {
		return nil, fmt.Errorf("make a repository: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args := []string{"init", "-q", "--template=", "-b", branch, dir}
	made := filepath.Join(dir, ".git")
	if bare {
		args, made = append(args, "--bare"), dir
	}
	if _, err := Run("", "", nil, args...); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(made, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		f := initFile{dir: d.IsDir()}
		if f.name, err = filepath.Rel(made, path); err == nil && !f.dir {
			f.data, err = os.ReadFile(path)
		}
		files = append(files, f)
		return err
	})
	return files, err
}
