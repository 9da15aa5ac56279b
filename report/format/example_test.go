package format_test

import (
	"fmt"
	"os"

	"github.com/preadmit/preadmit/report"
	"github.com/preadmit/preadmit/report/format"
)

func ExampleWrite() {
	r := &report.Report{
		APIVersion: report.APIVersion, Kind: report.Kind,
		Tool:   report.Tool{Name: "preadmit", Version: "v0.1.0", Kubernetes: "v1.36.3"},
		Change: report.ChangeInfo{Head: report.Revision{Name: "main"}},
		Findings: []report.Finding{{
			Status: report.StatusNew, Action: report.ActionDeny, Actions: []report.Action{report.ActionDeny},
			Cause: report.CauseValidation, Policy: "replicas", Message: "at most 5 replicas",
			Operation: "CREATE", Object: &report.Object{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"},
			Root: "overlays/prod",
			Location: report.Location{
				Path: "overlays/prod/replicas.yaml", StartLine: 7, StartColumn: 13, EndLine: 7, EndColumn: 15,
				Field: "spec.replicas", Exact: true, SnippetLine: 6, Snippet: []string{"spec:", "  replicas: 12"},
			},
		}},
		Summary: report.Summary{Requests: 1, Roots: report.RootCounts{Rendered: 1}},
	}
	if err := format.Write(os.Stdout, "text", r, format.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// overlays/prod/replicas.yaml
	//   7:13 denied: at most 5 replicas
	//      6 | spec:
	//      7 |   replicas: 12
	//        |             ^~ spec.replicas
	//        = CREATE Deployment shop/web, root overlays/prod
	//        = policy replicas
	//
	// 1 denied in 1 root, 1 request, 0 policies, 0 bindings, 0.00s
}

func ExampleFormats() {
	fmt.Println(format.Formats())
	// Output: [text json sarif markdown html junit github gitlab]
}
