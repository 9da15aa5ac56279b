package release

import "testing"

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]string{
		"1.36": Latest, "v1.36": Latest, "1.36.0": "v1.36.0", "1.34": "v1.34.0", "v1.34.12": "v1.34.12", "1.33": "v1.33.0",
		"1.32": "", "1.37": "", "": "", "1": "", "2.34": "", "1.34.x": "", "1.034": "", " 1.34": "", "1.34-rc.1": "",
	} {
		got, err := ParseVersion(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestBefore(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"v1.34.2", "v1.34.10", true}, {"v1.34.10", "v1.34.2", false}, {"v1.34.2", "v1.34.2", false},
		{"v1.34.9", "v1.35.0", true}, {"v1.36.0", "v1.35.4", false},
	} {
		if got := Before(c.a, c.b); got != c.want {
			t.Errorf("Before(%q, %q) = %v", c.a, c.b, got)
		}
	}
}

func TestParseFeatureGates(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "B=true,A=false": "A=false,B=true", " A = true , kube:B=0": "A=true,B=false", "A=true,A=false": "A=false",
	} {
		gates, err := ParseFeatureGates(text)
		if got := Settings(gates); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"A", "A=", "=true", "A=maybe"} {
		if gates, err := ParseFeatureGates(text); err == nil {
			t.Errorf("%q: %v", text, gates)
		}
	}
}

func TestParseRuntimeConfig(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "apps/v1=true, api/beta=false": "api/beta=false,apps/v1=true", "api/alpha": "api/alpha=true", "apps/v1=": "apps/v1=true",
		"resource.k8s.io/v1beta2/deviceclasses=1,": "resource.k8s.io/v1beta2/deviceclasses=true",
	} {
		if apis, err := ParseRuntimeConfig(text); err != nil || Settings(apis) != want {
			t.Errorf("%q: %v, %v, want %s", text, apis, err, want)
		}
	}
	for _, text := range []string{"v1=true", "=true", "apps/v1=maybe", "apps/=true", "a/b/c/d=true", "HPAScaleToZero=true"} {
		if apis, err := ParseRuntimeConfig(text); err == nil {
			t.Errorf("%q: %v, want an error", text, apis)
		}
	}
}
