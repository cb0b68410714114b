package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// imageConfig is what an image says about the program in it.
type imageConfig struct {
	Architecture string
	Config       struct {
		User            string
		Env             []string
		Entrypoint, Cmd []string
		Volumes, Labels map[string]any
		ExposedPorts    map[string]any
	}
}

// The image that .ci/image makes: read by the tools of others, it has what the Dockerfile
// says for both architectures, and is loaded as docs/install.md says. Unpacked, it serves with
// its own environment, user and volume. TestPackages compares two of them.
func TestImage(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	for _, tool := range []string{"unshare", "hostname", "skopeo", "umoci"} {
		if _, err := exec.LookPath(tool); err != nil {
			kit.MustSkip(t, tool+" is not installed; on Debian: apt-get install util-linux hostname skopeo umoci")
		}
	}
	c, build, version := newCage(t), t.TempDir(), "v"+newest(t)
	for _, arch := range []string{"amd64", "arm64"} {
		kit.Must(t, os.Mkdir(filepath.Join(build, "linux_"+arch), 0o755))
		binary := "contrib/ingest.sh" // which nobody starts
		if arch == runtime.GOARCH {
			binary = program.Binary(t)
		}
		copyInto(t, binary, filepath.Join(build, "linux_"+arch, "teamdata"))
		copyInto(t, licensesOf(t, program.Binary(t)), filepath.Join(build, "linux_"+arch, "licenses"))
	}
	folder, name := packages(t, ".ci/image", build, version, "one"), strings.TrimPrefix(version, "v")
	archive := "oci-archive:" + filepath.Join(folder, "teamdata_"+name+"_oci.tar:"+name)
	for _, arch := range []string{"amd64", "arm64"} {
		text, err := exec.Command("skopeo", "--override-arch", arch, "--override-os", "linux", "inspect", "--config", archive).Output()
		kit.Must(t, err)
		checkImageConfig(t, arch, version, text)
	}
	loadAsPageSays(t, folder, version)

	layout, bundle := filepath.Join(t.TempDir(), "layout:here"), filepath.Join(c.root, "bundle")
	for _, line := range [][]string{
		{"skopeo", "--insecure-policy", "copy", "--quiet", archive, "oci:" + layout},
		{"umoci", "unpack", "--image", layout, bundle},
	} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	c.root = filepath.Join(bundle, "rootfs")
	c.serveImage(filepath.Join(bundle, "config.json"))
}

// checkImageConfig compares an image with the Dockerfile.
func checkImageConfig(t *testing.T, arch, version string, text []byte) {
	t.Helper()
	var image imageConfig
	kit.Must(t, json.Unmarshal(text, &image))
	file := directives(t, "Dockerfile", " ")
	var env []string
	labels := map[string]any{}
	for _, d := range file {
		switch d.name {
		case "ENV":
			env = append(env, d.value)
		case "LABEL":
			name, value, _ := strings.Cut(d.value, "=")
			labels[name] = strings.Replace(strings.Trim(value, `"`), "$VERSION", version, 1)
		}
	}
	if len(env) == 0 || labels["org.opencontainers.image.version"] != version {
		t.Errorf("the Dockerfile has %v and %v", env, labels)
	}
	got, none := image.Config, map[string]any{}
	for what, values := range map[string][2]any{
		"architecture": {image.Architecture, arch},
		"user":         {got.User, valueOf(t, file, "USER")},
		"environment":  {got.Env, env},
		"entrypoint":   {got.Entrypoint, jsonList(t, valueOf(t, file, "ENTRYPOINT"))},
		"command":      {got.Cmd, jsonList(t, valueOf(t, file, "CMD"))},
		"volumes":      {got.Volumes, map[string]any{valueOf(t, file, "VOLUME"): none}},
		"ports":        {got.ExposedPorts, map[string]any{valueOf(t, file, "EXPOSE") + "/tcp": none}},
		"labels":       {got.Labels, labels},
	} {
		if !reflect.DeepEqual(values[0], values[1]) {
			t.Errorf("%s: the %s is %v, and in the Dockerfile %v", arch, what, values[0], values[1])
		}
	}
}

// serveImage starts an unpacked image by its runtime configuration, which umoci made out of
// the image's.
func (c *cage) serveImage(config string) {
	t := c.t
	var bundle struct {
		Process struct {
			User      struct{ UID, GID int }
			Args, Env []string
		}
	}
	kit.Must(t, json.Unmarshal([]byte(kit.ReadText(t, config)), &bundle))
	process := bundle.Process
	if process.User.UID != service || process.User.GID != service {
		t.Errorf("the user is %v", process.User)
	}
	entries, err := os.ReadDir(c.root)
	kit.Must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := []string{"data", "etc", "licenses", "teamdata"}; !slices.Equal(names, want) {
		t.Errorf("in the image are %v", names)
	}
	if !strings.Contains(kit.ReadText(t, c.at("etc/ssl/certs/ca-certificates.crt")), "BEGIN CERTIFICATE") {
		t.Error("the image has no CA certificates")
	}
	checkLicenses(t, c.at("teamdata"), c.at("licenses"))
	c.lock("data")
	p := c.start(process.Env, process.Args...)
	p.Await("the health check", func() bool { return c.command(process.Env, "/teamdata", "healthcheck").Run() == nil })
	p.StopWell()
}
