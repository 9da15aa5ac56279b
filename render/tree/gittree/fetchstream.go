package gittree

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// streamSession communicates with git-upload-pack through its input and output.
type streamSession struct {
	open func(context.Context) (io.ReadWriteCloser, error)
	most int64 // bytes of all answers

	stream io.ReadWriteCloser
	from   io.Reader
}

// AdvertisedReferences implements transport.Session.
func (s *streamSession) AdvertisedReferences() (*packp.AdvRefs, error) {
	return s.AdvertisedReferencesContext(context.Background())
}

// AdvertisedReferencesContext implements transport.Session.
func (s *streamSession) AdvertisedReferencesContext(ctx context.Context) (*packp.AdvRefs, error) {
	stream, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	s.stream = stream
	s.from = &limitedBody{stream, s.most, s.most}
	offer := packp.NewAdvRefs()
	if err := offer.Decode(s.from); err != nil {
		if errors.Is(err, packp.ErrEmptyAdvRefs) {
			return nil, transport.ErrEmptyRemoteRepository
		}
		return nil, s.explain(err)
	}
	transport.FilterUnsupportedCapabilities(offer.Capabilities)
	return offer, nil
}

// explain returns the stream's own error at its end, such as a message of the server, if there is one.
func (s *streamSession) explain(err error) error {
	if _, end := s.stream.Read(make([]byte, 1)); end != nil && !errors.Is(end, io.EOF) {
		return end
	}
	return err
}

// UploadPack implements transport.UploadPackSession. It sends the whole request before it reads the answer.
func (s *streamSession) UploadPack(_ context.Context, req *packp.UploadPackRequest) (*packp.UploadPackResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	if err := req.UploadRequest.Encode(s.stream); err != nil {
		return nil, fmt.Errorf("send what is wanted: %w", err)
	}
	if err := pktline.NewEncoder(s.stream).EncodeString("done\n"); err != nil {
		return nil, fmt.Errorf("send what is wanted: %w", err)
	}
	resp := packp.NewUploadPackResponse(req)
	if err := resp.Decode(io.NopCloser(s.from)); err != nil { // the session closes the stream
		return nil, s.explain(err)
	}
	return resp, nil
}

// Close implements io.Closer.
func (s *streamSession) Close() error {
	if s.stream == nil {
		return nil
	}
	return s.stream.Close()
}
