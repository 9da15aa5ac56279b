package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/preadmit/preadmit/scanner/admission/emulation"
	"github.com/preadmit/preadmit/scanner/release"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes.
const (
	exitAgreement  = 0
	exitDifference = 1
	exitFailure    = 2
)

// options are the flags.
type options struct {
	preadmit, apiServer string
	kubectl             string
	update              bool
	// version is the version of the kube-apiserver, if it differs from the one that suites are
	// recorded from. records is then the directory for records that differ.
	version, records string
	generate         uint
	seed             uint64
	others           bool
	objects          list
	suites           []string
}

// list is a flag that may be repeated.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// Main runs the command and returns its exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitAgreement
		}
		fmt.Fprintln(stderr, "conformance:", err)
		return exitFailure
	}
	differences, err := o.run(ctx, stdout, stderr)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "conformance:", err)
		return exitFailure
	case differences > 0:
		return exitDifference
	}
	return exitAgreement
}

func parse(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.preadmit, "preadmit", "", "`FILE` of the preadmit to compare with")
	flags.StringVar(&o.apiServer, "apiserver", "", "`FILE` of the kube-apiserver; KUBEBUILDER_ASSETS comes first")
	flags.StringVar(&o.kubectl, "kubectl", "", "`FILE` of the kubectl that -updates asks what it sends")
	flags.BoolVar(&o.update, "update", false, "write what the server answers now to expected.yaml, where it differs")
	flags.StringVar(&o.version, "kubernetes", "", "the minor `VERSION` of the kube-apiserver, if it is not the latest: preadmit judges as it does")
	flags.StringVar(&o.records, "records", "", "with -kubernetes and -update: write the records that differ from those of suites to this `DIR`")
	flags.Var(&o.objects, "objects", "compare the objects of `DIR` too: a directory, or a git bundle of branches; may be repeated")
	flags.UintVar(&o.generate, "updates", 0, "compare `N` generated updates too, as each applier sends them")
	flags.Uint64Var(&o.seed, "seed", 0, "the `NUMBER` of the first update that is generated")
	flags.BoolVar(&o.others, "others", false, "have others write to what is updated, and give preadmit the objects that the server has")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	o.suites = flags.Args()
	if o.version != "" {
		version, err := release.ParseVersion(o.version)
		if err == nil {
			err = emulation.Set(release.Release{Version: version}) // for the objects that policies see
		}
		if err != nil {
			return nil, fmt.Errorf("-kubernetes: %w", err)
		}
	}
	switch {
	case o.preadmit == "":
		return nil, errors.New("-preadmit is required: the program to compare with")
	case len(o.suites)+len(o.objects) == 0 && o.generate == 0:
		return nil, errors.New("nothing to compare: name directories with suites, -objects or -updates")
	}
	return o, nil
}
