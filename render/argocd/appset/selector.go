package appset

import (
	"fmt"
	"slices"
)

// selectorOf returns a function that matches labels against a label selector; nil for an empty one. Unlike in
// Kubernetes, values may be any text.
func selectorOf(content any) (func(labels map[string]string) bool, error) {
	if content == nil {
		return nil, nil
	}
	s, err := as[struct {
		MatchLabels      map[string]string `json:"matchLabels"`
		MatchExpressions []struct {
			Key      string   `json:"key"`
			Operator string   `json:"operator"`
			Values   []string `json:"values"`
		} `json:"matchExpressions"`
	}](content)
	if err != nil {
		return nil, err
	}
	for _, e := range s.MatchExpressions {
		switch e.Operator {
		case "In", "NotIn", "Exists", "DoesNotExist":
		default:
			return nil, fmt.Errorf("%q is not a valid label selector operator", e.Operator)
		}
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return nil, nil
	}
	return func(labels map[string]string) bool {
		for key, value := range s.MatchLabels {
			if have, ok := labels[key]; !ok || have != value {
				return false
			}
		}
		for _, e := range s.MatchExpressions {
			value, has := labels[e.Key]
			in := has && slices.Contains(e.Values, value)
			if !map[string]bool{"In": in, "NotIn": !in, "Exists": has, "DoesNotExist": !has}[e.Operator] {
				return false
			}
		}
		return true
	}, nil
}
