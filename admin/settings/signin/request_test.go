package signin

import "testing"

// After signing in, a page of ours comes, and no other.
func TestLocalPath(t *testing.T) {
	for next, want := range map[string]string{
		"/settings": "/settings", "/settings/account": "/settings/account", "/settings/orgs/org_acme/members?after=1.a": "/settings/orgs/org_acme/members?after=1.a",
		"": "/settings", "/": "/settings", "//evil.example": "/settings", "//evil.example/settings": "/settings", "https://evil.example/settings": "/settings", "https://u:p@evil.example/settings/orgs": "/settings/orgs",
		"/settings//evil.example": "/settings", `/settings\evil`: "/settings", `/settings/\evil.example`: "/settings", `\\evil.example`: "/settings", `/\evil.example`: "/settings",
		"/settings/../api/v1/members": "/settings", "/settings/%2e%2e/api": "/settings", "/settingsx": "/settings", "javascript:alert(1)": "/settings",
		"/settings/\t/x": "/settings", "settings": "/settings", "/settings/account#x": "/settings/account", "/settings:443@evil.example": "/settings",
		"http:/settings": "/settings", "/settings/%": "/settings", "%2F%2Fevil.example": "/settings", "/settings/account\r\nSet-Cookie: a=b": "/settings",
	} {
		if got := localPath("/settings", next); got != want {
			t.Errorf("%q leads to %q", next, got)
		}
	}
}
