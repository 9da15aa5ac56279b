package isolate

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/preadmit/preadmit/render/tree"
)

// Worker runs jobs of one kind. Its result is sent as JSON.
type Worker func(ctx context.Context, p *Process, t *tree.Tree, spec json.RawMessage) (any, error)

// Main is the child's side of Program: it runs the one job that it reads from stdin, reads files through stdin and
// stdout, and writes the result to stdout. If there is no result, the reason is written to stderr. The process should
// end afterwards.
func Main(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, workers map[string]Worker) error {
	client := &files{in: json.NewDecoder(bufio.NewReader(stdin)), out: json.NewEncoder(stdout)}
	var j job
	if err := client.in.Decode(&j); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	work, ok := workers[j.Kind]
	if !ok {
		return fmt.Errorf("there is no work of the kind %q", j.Kind)
	}
	result, err := work(ctx, &Process{stderr}, tree.New(client, j.Limits), j.Spec)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if err := client.out.Encode(request{Result: encoded}); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return ctx.Err()
}
