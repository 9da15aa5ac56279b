package githubtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/preadmit/preadmit/internal/githubtest/openapi"
)

// Comment is a comment on a pull request.
type Comment struct {
	ID int64
	// Repo is "OWNER/NAME"; the first repository when empty.
	Repo   string
	Pull   int
	Author string
	Body   string
	// Reactions are like "eyes alice", the oldest first.
	Reactions []string
}

// Comments returns copies of all comments, in the order of creation.
func (s *Server) Comments() []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Comment
	for _, c := range s.comments {
		copied := *c
		copied.Reactions = slices.Clone(c.Reactions)
		out = append(out, copied)
	}
	return out
}

// AddComment adds a comment without an event, and returns its ID.
func (s *Server) AddComment(c Comment) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addComment(c).ID
}

func (s *Server) addComment(c Comment) *Comment {
	if c.Repo == "" {
		c.Repo = s.first.full()
	}
	c.ID = s.nextID()
	s.comments = append(s.comments, &c)
	return &c
}

// Comment comments on a pull request, sends the event, and returns the comment's ID.
func (r *Repository) Comment(number int, author, body string) (id int64, err error) {
	err = r.server.act(func() error {
		p := r.repo.pull(number)
		if p == nil {
			return errors.New("comment: there is no such pull request")
		}
		c := r.server.addComment(Comment{Repo: r.repo.full(), Pull: number, Author: author, Body: body})
		id = c.ID
		r.server.sendComment(r.repo, p, c, "created")
		return nil
	})
	return id, err
}

func (s *Server) commentBody(q *query, c *Comment) map[string]any {
	return map[string]any{
		"id": c.ID, "node_id": "IC_1", "url": s.URL + "comment", "body": c.Body, "user": s.userBody(c.Author),
		"html_url":  fmt.Sprintf("https://github.com/%s/pull/%d#issuecomment-%d", c.Repo, c.Pull, c.ID),
		"issue_url": fmt.Sprintf("%srepos/%s/issues/%d", s.URL, c.Repo, c.Pull), "created_at": openapi.Moment, "updated_at": openapi.Moment,
		"author_association": "NONE", "performed_via_github_app": nil,
	}
}

func (s *Server) listComments(q *query) answer {
	if q.pull("issue_number") == nil {
		return notFound()
	}
	list := []any{}
	for _, c := range s.comments {
		if c.Pull == int(q.number("issue_number")) && c.Repo == q.repo.full() {
			list = append(list, s.commentBody(q, c))
		}
	}
	return listed(s, q.r, "", list)
}

func (s *Server) createComment(q *query) answer {
	p := q.pull("issue_number")
	if p == nil {
		return notFound()
	}
	text, complaint := commentText(q.body)
	if complaint != "" {
		return message(http.StatusUnprocessableEntity, complaint)
	}
	c := s.addComment(Comment{Repo: q.repo.full(), Pull: p.number, Author: q.who.login, Body: text})
	s.sendComment(q.repo, p, c, "created")
	return answer{status: http.StatusCreated, body: s.commentBody(q, c)}
}

// comment returns the comment of a request's path, or the error.
func (s *Server) comment(q *query) (*Comment, answer) {
	for _, c := range s.comments {
		if c.ID == q.number("comment_id") && c.Repo == q.repo.full() {
			return c, answer{}
		}
	}
	return nil, notFound()
}

func (s *Server) getComment(q *query) answer {
	c, a := s.comment(q)
	if c == nil {
		return a
	}
	return ok(s.commentBody(q, c))
}

// own returns the comment of a request's path, if the caller may change it.
func (s *Server) own(q *query) (*Comment, answer) {
	c, a := s.comment(q)
	if c != nil && c.Author != q.who.login {
		return nil, message(http.StatusForbidden, "Resource not accessible by integration")
	}
	return c, a
}

func (s *Server) editComment(q *query) answer {
	c, a := s.own(q)
	if c == nil {
		return a
	}
	text, complaint := commentText(q.body)
	if complaint != "" {
		return message(http.StatusUnprocessableEntity, complaint)
	}
	c.Body = text
	return ok(s.commentBody(q, c))
}

func (s *Server) deleteComment(q *query) answer {
	c, a := s.own(q)
	if c == nil {
		return a
	}
	s.comments = slices.DeleteFunc(s.comments, func(other *Comment) bool { return other == c })
	return answer{status: http.StatusNoContent}
}

func commentText(body []byte) (text, complaint string) {
	var in struct{ Body string }
	switch err := json.Unmarshal(body, &in); {
	case err != nil:
		return "", err.Error()
	case in.Body == "":
		return "", "Body cannot be blank"
	case utf8.RuneCountInString(in.Body) > 65536:
		return "", "Body is too long (maximum is 65536 characters)"
	}
	return in.Body, ""
}

func (s *Server) listReactions(q *query) answer {
	c, a := s.comment(q)
	if c == nil {
		return a
	}
	list := []any{}
	for i := range c.Reactions {
		list = append(list, s.reactionBody(c, i))
	}
	return listed(s, q.r, "", list)
}

func (s *Server) reactionBody(c *Comment, i int) map[string]any {
	var content, login string
	_, _ = fmt.Sscan(c.Reactions[i], &content, &login) // in the format of react
	return map[string]any{
		"id": c.ID*100 + int64(i), "node_id": "RE_1", "content": content, "user": s.userBody(login), "created_at": openapi.Moment,
	}
}

// react adds a reaction, once for each user: 201 the first time, 200 afterwards.
func (s *Server) react(q *query) answer {
	c, a := s.comment(q)
	if c == nil {
		return a
	}
	var in struct{ Content string }
	if err := json.Unmarshal(q.body, &in); err != nil {
		return message(http.StatusBadRequest, "Problems parsing JSON")
	}
	word := in.Content + " " + q.who.login
	if i := slices.Index(c.Reactions, word); i >= 0 {
		return ok(s.reactionBody(c, i))
	}
	c.Reactions = append(c.Reactions, word)
	return answer{status: http.StatusCreated, body: s.reactionBody(c, len(c.Reactions)-1)}
}
