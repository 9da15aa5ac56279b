package helm

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/preadmit/preadmit/render"
	"github.com/preadmit/preadmit/render/helm/engine"
)

// lookup answers a chart's query for objects of the cluster from the unit.
func (in *installed) lookup(q engine.Query, variant int) engine.Answer {
	for _, l := range in.root.Unit.Release.Lookups {
		if l.Query != render.Query(q) {
			continue
		}
		answer := engine.Answer{Known: true, Bytes: len(l.Found), Partly: len(l.Unknown) > 0}
		if len(l.Found) == 0 {
			return answer
		}
		answer.Object = decoded(l.Found)
		for _, u := range l.Unknown {
			set(answer.Object, u.Path, func(any) any { return lookedUp(l.Kind, u.Path, variant) })
		}
		return answer
	}
	return engine.Answer{}
}

// decoded decodes an object as client-go does for Helm.
func decoded(text []byte) map[string]any { return (&render.Object{JSON: text}).Content() }

// lookedUp returns a stand-in for an unknown field of an object in the cluster; variants have different ones.
func lookedUp(kind string, path []string, variant int) string {
	text := "stand-in-" + strconv.Itoa(variant)
	switch {
	case kind == "Secret" && path[0] == "data":
		return base64.StdEncoding.EncodeToString([]byte(text))
	case path[len(path)-1] == "creationTimestamp":
		return fmt.Sprintf("%d-01-01T00:00:00Z", 2020+variant%10)
	}
	return text
}

func queries(asked []engine.Query) (all []render.Query) {
	for _, q := range asked {
		all = append(all, render.Query(q))
	}
	return all
}
