package github

import "context"

// Reply answers a comment on the pull request once: a comment that begins with a hidden
// marker of the key and is by the token's own login is the answer already. The body is
// Markdown, escaped; over GitHub's limit it is cut.
func (p *Publisher) Reply(ctx context.Context, key, body string) (Published, error) {
	marker := replyMarker(p.opts.Name, key)
	own, err := p.commentsWith(ctx, marker)
	if err != nil || len(own) > 0 {
		return Published{}, err
	}
	return p.createComment(ctx, p.marked(marker, body, ""))
}
