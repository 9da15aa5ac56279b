package suite

import (
	"fmt"
	"os"
	"testing"

	"github.com/preadmit/preadmit/internal/testall"
)

func TestMain(m *testing.M) {
	testall.Heap()
	if err := imitate(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
