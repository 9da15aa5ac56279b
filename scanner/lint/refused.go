package lint

import (
	"context"
	"regexp"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preadmit/preadmit/scanner/policy"
)

// checkRefused reports objects that the API server would refuse to create, field by field.
func checkRefused(_ context.Context, c *cluster) {
	for _, r := range c.refusals {
		if len(r.Causes) == 0 {
			c.add(remark{object: r.Object, fields: r.Fields, message: r.Message, hint: "the API server refuses the object as a whole"})
		}
		for _, cause := range r.Causes {
			c.add(refusedField(r, cause))
		}
	}
}

func refusedField(r policy.Refusal, cause metav1.StatusCause) remark {
	line, column := celPosition(cause.Message)
	return remark{
		object: r.Object, fields: []string{cause.Field}, line: line, column: column,
		message: cause.Field + ": " + cause.Message,
		hint:    "the API server refuses to create it, so it has no effect",
	}
}

// celPosition returns the line and column, from 1, of the first error of the CEL compiler in a
// message; 0 if there is none.
func celPosition(message string) (line, column int) {
	m := celError.FindStringSubmatch(message)
	if m == nil {
		return 0, 0
	}
	line, _ = strconv.Atoi(m[1]) // digits
	column, _ = strconv.Atoi(m[2])
	return line, column
}

var celError = regexp.MustCompile(`ERROR: <input>:(\d{1,9}):(\d{1,9}):`)
