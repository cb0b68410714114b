package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"teamdata/e2e/kit"
)

const optionsOfEndpoint = "the files and the endpoint are the reader's; cli/testdata/scripts/both/endpointoptions.txtar has each flag"

// commandsOfPages says of the blocks of commands below each heading of each page what
// runs them as they are pasted: a folder and a test in it. Where nothing does, it has the
// reason, or says what they are, in words.
var commandsOfPages = map[string]map[string]string{
	"README.md": {
		"# teamdata": "the demo ends only when it is stopped, and the tests would run themselves",
	},
	"SECURITY.md": {
		"## Releases": "e2e/release TestRelease",
	},
	"docs/admin-api.md": {
		"## Where it is": "e2e/docs TestPastedCommands",
		"## Operations":  "the generators are programs of others, which e2e/clients TestStockGenerators runs in other words",
	},
	"docs/architecture.md": {
		"## Layers": "a drawing",
	},
	"docs/assistants.md": {
		"## Connect":           "claude is a program of others, and asks for an account",
		"## With the local CA": "variables of programs of others",
		"## Try it":            "e2e/serve TestAssistantsPage",
	},
	"docs/backup.md": {
		"## Back up":            "e2e/docs TestPastedCommands",
		"## Restore":            "e2e/docs TestPastedCommands",
		"## Rehearse a restore": "e2e/docs TestFirstEvent",
	},
	"docs/bugs.md": {
		"# Bugs": "the words in capitals are to be replaced, and each test takes a commit of its own",
	},
	"docs/certificates.md": {
		"## ACME": "needs a public authority and a public name",
	},
	"docs/clients.md": {
		"## Go":         "e2e/clients TestGoClientCanBeCopied",
		"## TypeScript": "npm fetches from its registry; e2e/clients TestTypeScriptClient installs the folder as npm would",
	},
	"docs/doctor.md": {
		"## Run it": "e2e/docs TestShownOutput",
	},
	"docs/endpoint-options.md": {
		"## Headers":              optionsOfEndpoint,
		"## Rate and parallelism": optionsOfEndpoint,
		"## Client certificate":   optionsOfEndpoint,
		"## Private CA":           optionsOfEndpoint,
	},
	"docs/format.md": {
		"## Sealed files": "bytes of a sealed record",
	},
	"docs/hardening.md": {
		"## Sealed secrets": "e2e/docs TestPastedCommands",
		"## FIPS 140-3":     "builds the program with another cryptography module, with which .ci/fips runs tests",
	},
	"docs/install.md": {
		"# Install":          "e2e/release TestRelease",
		"## From an archive": "e2e/release TestRelease",
		"## systemd":         "changes the machine's users and units, which needs root and systemd",
		"## Container":       "needs docker",
	},
	"docs/postgresql.md": {
		"## Role and database":   "e2e/docs TestPastedDatabase",
		"## Move there and back": "e2e/docs TestPastedDatabase",
	},
	"docs/postgresql-nodes.md": {
		"## Start the nodes": "e2e/docs TestPastedDatabase",
	},
	"docs/postgresql-operations.md": {
		"## Backup": "store/pgstore TestDocs",
		"## Sizing": "takes minutes, and a database that nobody else uses; .ci/steps runs it for one round",
	},
	"docs/proxies.md": {
		"## HTTP behind a proxy": "e2e/docs TestPastedServers",
		"## PROXY protocol":      "e2e/docs TestPastedServers",
	},
	"docs/pull.md": {
		"## Set it up":        "e2e/docs TestPullPage",
		"### curl":            "e2e/docs TestPullPage",
		"### teamdata listen": "e2e/docs TestPullPage",
	},
	"docs/settings.md": {
		"## Check your settings": "e2e/docs TestShownOutput",
	},
	"docs/start.md": {
		"## First event in five minutes": "e2e/docs TestFirstEvent",
	},
	"docs/testing.md": {
		"## Go: teamdatatest":                    "e2e/module TestForeignModule",
		"## Other languages: serve --test-clock": "doesn't end; the tests further down start it in this way, and e2e/docs TestTestingPage runs them",
	},
	"docs/upgrade.md": {
		"## Downgrade":        "e2e/docs TestPastedCommands",
		"## Verify a release": "e2e/release TestRelease",
	},
	"docs/webhook-samples.md": {
		"## By hand, with openssl and a shell": "delivery TestWebhooksDocSamples",
	},
	"docs/webhooks.md": {
		"## When it fails": "e2e/docs TestPastedCommands",
		"## Try it":        "e2e/docs TestPastedCommands",
	},
}

var (
	fence = regexp.MustCompile("^ *```(.*)$")
	runBy = regexp.MustCompile(`^([a-z][\w/]*) (Test\w+)$`)
)

// Every block of commands of every page is run by a test, which reads the page, or is
// listed with the reason why not. Blocks in another language than that of a shell are no
// commands.
func TestCommandsOfPagesRun(t *testing.T) {
	for _, page := range kit.Pages(t) {
		listed := map[string]bool{}
		for _, heading := range headingsOfCommands(kit.ReadText(t, page)) {
			listed[heading] = true
			by, ok := commandsOfPages[page][heading]
			if !ok {
				t.Errorf("%s has commands below %q: add what runs them, or why nothing does, to commandsOfPages", page, heading)
			} else if test := runBy.FindStringSubmatch(by); test != nil {
				checkRunner(t, page, test[1], test[2])
			}
		}
		for heading := range commandsOfPages[page] {
			if !listed[heading] {
				t.Errorf("%s has no commands below %q", page, heading)
			}
		}
	}
	for page := range commandsOfPages {
		if _, err := os.Stat(page); err != nil {
			t.Error(err)
		}
	}
}

// headingsOfCommands are the headings of a page below which there is a block of a shell,
// or one that says no language.
func headingsOfCommands(text string) (headings []string) {
	heading, inside := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if found := fence.FindStringSubmatch(line); found != nil {
			if inside = !inside; inside && (found[1] == "" || found[1] == "sh" || strings.HasPrefix(found[1], "sh ")) {
				headings = append(headings, heading)
			}
		} else if !inside && strings.HasPrefix(line, "#") {
			heading = line
		}
	}
	return headings
}

// checkRunner looks for a test in a folder, and for the page in the folder's tests.
func checkRunner(t *testing.T, page, folder, test string) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*_test.go")
	kit.Must(t, err)
	var all strings.Builder
	for _, file := range files {
		all.WriteString(kit.ReadText(t, file))
	}
	if !strings.Contains(all.String(), "\nfunc "+test+"(") {
		t.Errorf("%s: there is no %s in %s", page, test, folder)
	}
	if !strings.Contains(all.String(), filepath.Base(page)) {
		t.Errorf("%s: no test in %s reads it", page, folder)
	}
}
