package webhooks

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/preadmit/preadmit/internal/jail"
	"github.com/preadmit/preadmit/report"
)

// jailedCommand makes the test binary the program that enters a jail, and judgeCommand the one that
// judges for the playground in a jail.
const (
	jailedCommand = "enter-jail"
	judgeCommand  = "judge-in-jail"
)

func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != jailedCommand && os.Args[1] != judgeCommand {
		os.Exit(m.Run())
	}
	out, err := jail.Enter()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Args[1] == judgeCommand {
		judge(out)
	}
}

// judge answers each request with what a process in a jail finds in its environment.
func judge(out io.Writer) {
	_, file := os.ReadFile("/etc/passwd")
	_, network := net.Dial("tcp", "127.0.0.1:1")
	message := fmt.Sprintf("file: %t, network: %t, environment: %t", file == nil, !errors.Is(network, os.ErrPermission), os.Getenv("OF_THE_SERVICE") != "")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		_ = json.NewEncoder(out).Encode(report.PlaygroundAnswer{Problems: []report.PlaygroundProblem{{Message: message}}})
	}
}

// jailable returns options with which scans and the playground can use a jail.
func jailable(o Options) Options {
	o.Program, o.Args, o.PlaygroundArgs = "/proc/self/exe", []string{jailedCommand}, []string{judgeCommand}
	return o
}
