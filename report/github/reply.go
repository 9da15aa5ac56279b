package github

import "context"

// Reply answers a comment on the pull request once. It writes nothing if a comment by the
// token's own login already begins with the hidden marker of the key. The body is escaped
// Markdown; text over GitHub's limit is cut.
func (p *Publisher) Reply(ctx context.Context, key, body string) (Published, error) {
	marker := replyMarker(p.opts.Name, key)
	own, err := p.commentsWith(ctx, marker)
	if err != nil || len(own) > 0 {
		return Published{}, err
	}
	return p.createComment(ctx, p.marked(marker, body, ""))
}
