package github

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-github/v62/github"
)

// MaxSARIF bounds a SARIF file, in bytes after gzip (GitHub's page on SARIF support).
const MaxSARIF = 10 << 20

// queueRefs is the prefix of the refs of a merge queue. Code scanning shows no results there.
const queueRefs = "refs/heads/gh-readonly-queue/"

// UploadSARIF uploads a SARIF file to code scanning for the target's Ref. If code scanning
// cannot accept it (a merge queue, a repository without code scanning, a file that is too
// large), the result is a note and no error. Call it between Start and Finish: Finish
// records the upload in the check run, so that the same file for the same commit is not
// sent again.
func (p *Publisher) UploadSARIF(ctx context.Context, sarif []byte) (Published, error) {
	switch {
	case p.target.Ref == "":
		return Published{}, errors.New("upload SARIF: the target has no ref")
	case strings.HasPrefix(p.target.Ref, queueRefs):
		return Published{Note: "No SARIF was uploaded: code scanning does not show results of a merge queue."}, nil
	}
	sum := digest(fmt.Appendf(nil, "%s %s\n%s", p.target.Ref, p.target.refSHA(), sarif))
	if known, err := p.uploaded(ctx, sum); known || err != nil {
		return Published{}, err
	}
	packed, err := pack(sarif)
	if err != nil {
		return Published{}, fmt.Errorf("upload SARIF: %w", err)
	}
	if size := len(packed) / 4 * 3; size > MaxSARIF {
		return Published{Note: fmt.Sprintf("No SARIF was uploaded: it has %d bytes after gzip, GitHub takes %d.", size, MaxSARIF)}, nil
	}
	_, _, err = p.api.CodeScanning.UploadSarif(ctx, p.target.Owner, p.target.Repo, &github.SarifAnalysis{
		CommitSHA: github.String(p.target.refSHA()), Ref: github.String(p.target.Ref), Sarif: &packed,
		ToolName: github.String("preadmit"),
	})
	if notice, ok := sarifNotice(attempt{"upload SARIF", "security-events: write"}.fail(err)); ok {
		return Published{Note: notice}, nil
	}
	if err != nil {
		return Published{}, attempt{"upload SARIF", "security-events: write"}.fail(err)
	}
	p.sarif = sum
	return Published{Changed: true}, nil
}

// uploaded reports whether the check run records that the file with digest sum was uploaded.
// It returns false if the token may not read check runs.
func (p *Publisher) uploaded(ctx context.Context, sum string) (bool, error) {
	if !p.queried {
		_, err := p.find(ctx)
		var refused *Error
		if errors.As(err, &refused) && refused.Degrades() {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	have, _ := readMark(p.known.GetExternalID())
	if have.sarif != sum {
		return false, nil
	}
	p.sarif = sum
	return true, nil
}

// pack returns sarif compressed with gzip and encoded with base64. It is deterministic.
func pack(sarif []byte) (string, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", fmt.Errorf("compress: %w", err)
	}
	if _, err := w.Write(sarif); err != nil {
		return "", fmt.Errorf("compress: %w", err)
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("compress: %w", err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// sarifNotice returns a note for a refusal whose cause is the repository or the file, not
// the token or preadmit; ok is false for other errors.
func sarifNotice(err error) (string, bool) {
	var refused *Error
	if !errors.As(err, &refused) {
		return "", false
	}
	switch refused.Kind {
	case KindNotEnabled, KindMissing, KindTooLarge:
		return "No SARIF was uploaded: " + refused.Error() + ".", true
	}
	return "", false
}
