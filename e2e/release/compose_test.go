package release

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// composed is a service of contrib/compose.yml, as far as the test looks at it.
type composed struct {
	Image       string
	Environment map[string]string
	Volumes     []string
	Networks    map[string]struct {
		Address string `yaml:"ipv4_address"`
	}
}

// The compose file's nodes have settings that serve takes, and a name each; its proxy is
// that of docs/postgresql-nodes.md, leads to all of them, and is the one that they trust.
func TestCompose(t *testing.T) {
	var file struct {
		Services map[string]composed
		Volumes  map[string]any
		Configs  map[string]struct{ Content string }
	}
	kit.Must(t, yaml.Unmarshal([]byte(kit.ReadText(t, "contrib/compose.yml")), &file))
	_, block, _ := strings.Cut(kit.ReadText(t, "docs/postgresql-nodes.md"), "```haproxy\n")
	block, _, _ = strings.Cut(block, "```")
	proxy := file.Configs["proxy"].Content
	if proxy != strings.ReplaceAll(block, "/etc/haproxy/teamdata-ca.pem", "/node/teamdata.ca.pem") || proxy == "" {
		t.Errorf("the proxy's configuration is not that of the docs:\n%s", proxy)
	}
	nodes := 0
	for name, s := range file.Services {
		if s.Image != "teamdata" {
			continue
		}
		nodes++
		if _, kept := file.Volumes[name]; !kept || !strings.Contains(proxy, "server "+name+" "+name+":8443\n") {
			t.Errorf("%s has no volume, or the proxy does not lead to it", name)
		}
		if s.Environment["TEAMDATA_NODE"] != name || s.Environment["TEAMDATA_TRUSTED_PROXIES"] != file.Services["proxy"].Networks["nodes"].Address {
			t.Errorf("%s has %v", name, s.Environment)
		}
		s.checkSettings(t)
	}
	if nodes != strings.Count(proxy, "    server ") || nodes < 2 {
		t.Errorf("there are %d nodes", nodes)
	}
}

// checkSettings checks that serve takes a service's settings.
func (s composed) checkSettings(t *testing.T) {
	t.Helper()
	check := exec.Command(program.Binary(t), "config", "check")
	check.Env = os.Environ()
	for setting, value := range s.Environment {
		check.Env = append(check.Env, setting+"="+strings.ReplaceAll(value, "${PASSWORD:?is not set}", "abc"))
	}
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", s.Environment, err, out)
	}
}

// The compose file of one server has settings that serve takes, and keeps the volume of the
// image.
func TestComposeSingle(t *testing.T) {
	var file struct {
		Services map[string]composed
		Volumes  map[string]any
	}
	kit.Must(t, yaml.Unmarshal([]byte(kit.ReadText(t, "contrib/compose.single.yml")), &file))
	s := file.Services["teamdata"]
	if len(file.Services) != 1 || len(s.Environment) == 0 {
		t.Errorf("the services are %v", file.Services)
	}
	s.checkSettings(t)
	volume, folder, _ := strings.Cut(strings.Join(s.Volumes, ""), ":")
	if _, kept := file.Volumes[volume]; !kept || folder != valueOf(t, directives(t, "Dockerfile", " "), "VOLUME") {
		t.Errorf("the volumes are %v", s.Volumes)
	}
}
