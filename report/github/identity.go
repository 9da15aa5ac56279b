package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// login returns the account that the token acts as. GET /user works for users only. For the
// token of a workflow or an app installation, GraphQL's viewer gives the login "SLUG[bot]".
func (p *Publisher) login(ctx context.Context) (string, error) {
	if p.self != "" {
		return p.self, nil
	}
	doing := attempt{"ask who the token is of", "metadata: read"}
	user, _, err := p.api.Users.Get(ctx, "")
	err = doing.fail(err)
	var refused *Error
	switch {
	case err == nil:
		p.self = user.GetLogin()
	case errors.As(err, &refused) && refused.Kind == KindForbidden:
		if p.self, err = p.viewer(ctx); err != nil {
			return "", doing.fail(err)
		}
	default:
		return "", err
	}
	if p.self == "" {
		return "", errors.New("ask who the token is of: GitHub does not say; set the login")
	}
	return p.self, nil
}

// viewer returns the login of the token from GraphQL.
func (p *Publisher) viewer(ctx context.Context) (string, error) {
	req, err := p.api.NewRequest(http.MethodPost, p.graphqlURL(), map[string]string{"query": "query { viewer { login } }"})
	if err != nil {
		return "", err
	}
	var answer struct {
		Data struct{ Viewer struct{ Login string } }
	}
	_, err = p.api.Do(ctx, req, &answer)
	return answer.Data.Viewer.Login, err
}

// graphqlURL returns the URL of the GraphQL API, next to the REST API: /graphql at
// github.com, and /api/graphql where the REST API is at /api/v3/.
func (p *Publisher) graphqlURL() string {
	u := *p.api.BaseURL
	u.Path = strings.TrimSuffix(u.Path, "v3/") + "graphql"
	return u.String()
}

// appSlug returns the slug of the app that the token belongs to, "" for a user's token.
func (p *Publisher) appSlug(ctx context.Context) (string, error) {
	login, err := p.login(ctx)
	if err != nil {
		return "", err
	}
	slug, ok := strings.CutSuffix(login, "[bot]")
	if !ok {
		return "", nil
	}
	return slug, nil
}
