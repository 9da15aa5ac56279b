package format_test

import (
	"os"
	"testing"

	"github.com/preadmit/preadmit/internal/testall"
)

func TestMain(m *testing.M) {
	testall.Heap()
	os.Exit(m.Run())
}
