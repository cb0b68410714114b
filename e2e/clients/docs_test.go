package clients

import (
	"encoding/pem"
	"maps"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/client/admin"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// programsInDocs are the programs on docs/clients.md, by language and purpose.
func programsInDocs(t *testing.T) map[string]string {
	t.Helper()
	programs := map[string]string{}
	block := regexp.MustCompile("(?ms)^```((?:go|ts) \\w+)\n(.*?)^```$")
	for _, found := range block.FindAllStringSubmatch(kit.ReadText(t, "docs/clients.md"), -1) {
		programs[found[1]] = found[2]
	}
	if got, want := slices.Sorted(maps.Keys(programs)), strings.Split("go pull,go push,go read,go receive,ts pull,ts push,ts read,ts receive", ","); !slices.Equal(got, want) {
		t.Fatalf("docs/clients.md has the programs %q", got)
	}
	return programs
}

// The programs on docs/clients.md do what they show, as they stand there.
func TestClientsDoc(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	programs := programsInDocs(t)
	t.Run("go", func(t *testing.T) {
		testPrograms(t, func(purpose string) *exec.Cmd { return goProgram(t, purpose, programs["go "+purpose]) })
	})
	t.Run("typescript", func(t *testing.T) {
		compileTypeScript(t)
		folder := installTypeScript(t)
		for name, text := range programs {
			if purpose, ok := strings.CutPrefix(name, "ts "); ok && purpose != "pull" {
				kit.WriteFile(t, filepath.Join(folder, purpose+".ts"), text)
			}
		}
		compile(t, filepath.Join(folder, "tsconfig.json"))
		testPrograms(t, func(purpose string) *exec.Cmd {
			return exec.CommandContext(t.Context(), "node", filepath.Join(folder, purpose+".js"))
		})
	})
}

// goProgram builds a program in Go.
func goProgram(t *testing.T, purpose, text string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	kit.WriteFile(t, file, text)
	binary := filepath.Join(filepath.Dir(file), purpose)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exec.CommandContext(t.Context(), binary)
}

// installTypeScript makes a folder that has the client as npm would install it.
func installTypeScript(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	whole, err := filepath.Abs(typescript)
	kit.Must(t, err)
	modules := filepath.Join(folder, "node_modules")
	kit.Must(t, os.MkdirAll(modules, 0o755))
	kit.Must(t, os.Symlink(whole, filepath.Join(modules, "teamdata")))
	kit.Must(t, os.Symlink(filepath.Join(typeScriptModules(t), "@types"), filepath.Join(modules, "@types")))
	kit.WriteFile(t, filepath.Join(folder, "package.json"), `{"type":"module"}`)
	kit.WriteFile(t, filepath.Join(folder, "tsconfig.json"), `{
		"compilerOptions": {"target": "es2022", "module": "nodenext", "strict": true, "types": ["node"]},
		"include": ["*.ts"]
	}`)
	return folder
}

const readOutput = `usr_ada is owner
usr_bruno is admin
usr_chloe is member
usr_deniz is member
usr_emiko is viewer
`

const pushOutput = `2 entries were added
usr_ada is Ada
`

// testPrograms runs the programs of one language beside a server.
func testPrograms(t *testing.T, command func(purpose string) *exec.Cmd) {
	receiver := httptest.NewUnstartedServer(nil)
	listen := kit.Reserved(t)
	target, err := url.Parse("http://" + listen)
	kit.Must(t, err)
	receiver.Config.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	ca := filepath.Join(t.TempDir(), "receiver.pem")
	kit.WriteFile(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})))

	s := serveClients(t, "--webhook-ca", ca)
	env := append(os.Environ(), "TEAMDATA_URL="+s.URL, "TEAMDATA_CA="+s.CAFile, "NODE_EXTRA_CA_CERTS="+s.CAFile,
		"TEAMDATA_KEY="+program.ReadKey, "TEAMDATA_OPERATOR_TOKEN="+s.token, "TEAMDATA_SOCKET="+s.socket, "LISTEN="+listen)
	output := func(purpose string) string {
		t.Helper()
		cmd := command(purpose)
		cmd.Env, cmd.Stderr = env, os.Stderr
		out, err := cmd.Output()
		kit.Must(t, err)
		return string(out)
	}
	out := output("read")
	if want := regexp.MustCompile(`(?s)^` + readOutput + `aud_\S+ org\.created\n.*continue after \d+\.aud_\S+\nthe key may not send test events\n$`); !want.MatchString(out) {
		t.Errorf("read says\n%s", out)
	}
	_, cursor, _ := strings.Cut(out, "continue after ")
	cursor, _, _ = strings.Cut(cursor, "\n")
	env = append(env, "CURSOR="+cursor)
	if out, want := output("read"), readOutput+"continue after "+cursor+"\nthe key may not send test events\n"; out != want {
		t.Errorf("read again, it says\n%s", out)
	}
	if out := output("push"); out != pushOutput {
		t.Errorf("push says\n%s", out)
	}

	// The receiver keeps its secret while the server rotates it.
	c, ctx := admin.OverSocket(s.socket), t.Context()
	endpoint := done(c.CreateEndpoint(ctx, "org_acme", admin.NewEndpoint{URL: receiver.URL + "/hook", Events: []string{"member.added"}}))
	cmd := command("receive")
	cmd.Env = append(env, "WEBHOOK_SECRETS="+*endpoint.Secret)
	p := program.Begin(t, cmd)
	p.Await("the receiver", func() bool {
		answer, err := receiver.Client().Post(receiver.URL+"/hook", "application/json", strings.NewReader("{}"))
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == 400 // for it is not signed
	})
	done(c.RotateSecret(ctx, "org_acme", endpoint.ID, admin.Rotation{OverlapSeconds: new(60)}))
	done(c.AddMember(ctx, "org_acme", admin.NewMember{UserID: "usr_zoe", Role: "member"}))
	test := done(c.TestEndpoint(ctx, "org_acme", endpoint.ID, admin.Test{}))
	p.Says(" usr_zoe joined\n")
	p.Says(test.ID + " webhook.test\n")
	done(c.RotateSecret(ctx, "org_acme", endpoint.ID, admin.Rotation{}))
	refused := done(c.TestEndpoint(ctx, "org_acme", endpoint.ID, admin.Test{}))
	p.Await("the refusal", func() bool {
		delivery := done(c.ReadDelivery(ctx, "org_acme", refused.ID))
		return len(delivery.History) == 1 && *delivery.History[0].Status == 400
	})
	if strings.Contains(p.Out.String(), refused.ID) {
		t.Errorf("it took what another secret signed:\n%s", p.Out)
	}
}
