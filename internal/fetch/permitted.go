package fetch

import (
	"context"
	"fmt"

	"github.com/preadmit/preadmit/render/artifact"
	"github.com/preadmit/preadmit/render/artifact/permit"
)

// Permitted fetches an artifact if the rules for a change permit it, and returns its pin. If the
// change itself locks the artifact, the lock is compared with the current content.
func (c *Client) Permitted(ctx context.Context, rules *permit.Rules, a artifact.Artifact) (artifact.Pin, error) {
	pin, known, err := rules.Decide(a)
	if err != nil {
		return pin, err
	}
	if base, ok := rules.Base.Find(a); known && (rules.Trusted || ok && base.Digest == pin.Digest) {
		return pin, c.Get(ctx, a, pin)
	}
	now, err := c.Resolve(ctx, a)
	if err == nil && known && now.Digest != pin.Digest {
		err = fmt.Errorf("the change locks %s, and it is %s", pin.Digest, now.Digest)
	}
	return now, err
}
