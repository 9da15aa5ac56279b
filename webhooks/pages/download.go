package pages

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/preadmit/preadmit/report/format"
	"github.com/preadmit/preadmit/webhooks/queue"
)

// download sends the report of a scan in a format, as an attachment.
func (p *Pages) download(format string) handler {
	return func(w http.ResponseWriter, r *http.Request, v *viewer) error {
		s, _, err := p.visible(r, v)
		if err != nil {
			return err
		}
		text, err := p.writeReport(r, s, format)
		if err != nil {
			return err
		}
		name := fileName(s) + "." + format
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		p.send(w, http.StatusOK, contentType(format), text)
		return nil
	}
}

// writeReport reads the stored report and encodes it again, so that everything the service sends
// has been validated by package report, whatever is in the store.
func (p *Pages) writeReport(r *http.Request, s queue.Scan, name string) ([]byte, error) {
	done, err := p.draw(r.Context())
	if err != nil {
		return nil, err
	}
	defer done()
	read, err := p.readReport(r.Context(), s.ID)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := format.Write(&b, name, read, format.Options{}); err != nil {
		return nil, fmt.Errorf("give the report of scan %s: %w", s.ID, err)
	}
	return b.Bytes(), nil
}

func contentType(format string) string {
	if format == "sarif" {
		return "application/sarif+json"
	}
	return "application/json"
}

// fileName returns the name of a report's file, made of what was scanned.
func fileName(s queue.Scan) string {
	parts := []string{"preadmit", s.Owner, s.Repo}
	if s.Pull > 0 {
		parts = append(parts, strconv.Itoa(s.Pull))
	}
	parts = append(parts, s.Head[:min(len(s.Head), 12)])
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && plainName.MatchString(string(r)) {
			return r
		}
		return -1
	}, strings.Join(parts, "-"))
	return strings.Trim(name, "-.")
}
