package queue

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// PutReport stores a scan's report, compressed. The scan must have a record; if the record was
// removed meanwhile, the report is removed as well.
func (q *Queue) PutReport(ctx context.Context, id string, text []byte) error {
	s, found := q.index.at(id)
	if !found {
		return fmt.Errorf("storing the report of scan %.64q: %w", id, ErrNotFound)
	}
	packed, err := pack(text)
	if err != nil {
		return fmt.Errorf("compressing the report of scan %s: %w", id, err)
	}
	if int64(len(packed)) > q.config.KeepBytes {
		return fmt.Errorf("the report of scan %s has %d bytes; queue.keepBytes allows %d", id, len(packed), q.config.KeepBytes)
	}
	start := time.Now()
	if _, err := q.reports.PutBytes(ctx, id, packed); err != nil {
		return fmt.Errorf("storing the report of scan %s: %w", id, err)
	}
	q.config.Metrics.Wrote("reports", time.Since(start))
	if err := q.setHasReport(ctx, s, true); errors.Is(err, ErrNotFound) {
		return errors.Join(err, q.dropReport(context.WithoutCancel(ctx), id))
	} else if err != nil {
		return err
	}
	return q.makeRoom(ctx)
}

// Report returns a scan's report as it was stored, or ErrNotFound.
func (q *Queue) Report(ctx context.Context, id string) ([]byte, error) {
	if err := checkID(id); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrNotFound)
	}
	packed, err := q.reports.GetBytes(ctx, id)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, fmt.Errorf("the report of scan %.64q: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the report of scan %.64q: %w", id, err)
	}
	text, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("reading the report of scan %s: %w", id, err)
	}
	return text, nil
}

func pack(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return packed.Bytes(), err
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// setHasReport records in the scan's record whether it has a report.
func (q *Queue) setHasReport(ctx context.Context, s Scan, has bool) error {
	return q.changeScan(ctx, s, func(now *Scan) (*Scan, error) {
		switch {
		case now == nil && has:
			return nil, ErrNotFound
		case now == nil || now.HasReport == has:
			return nil, errUnchanged
		}
		next := *now
		next.HasReport = has
		return &next, nil
	})
}

// dropReport removes a report, if there is one.
func (q *Queue) dropReport(ctx context.Context, id string) error {
	err := q.reports.Delete(ctx, id)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	if err == nil {
		err = q.dropMarker(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("removing the report of scan %s: %w", id, err)
	}
	return nil
}

// dropMarker removes the marker that the object store keeps of a removed report, unless the
// report was stored again: markers would accumulate for as long as reports are kept.
func (q *Queue) dropMarker(ctx context.Context, id string) error {
	subject := "$O." + reportBucket + ".M." + base64.URLEncoding.EncodeToString([]byte(id))
	message, err := q.reportStream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var about jetstream.ObjectInfo
	if err := json.Unmarshal(message.Data, &about); err != nil || !about.Deleted {
		return err
	}
	if err := q.reportStream.DeleteMsg(ctx, message.Sequence); !errors.Is(err, jetstream.ErrMsgNotFound) {
		return err
	}
	return nil
}
