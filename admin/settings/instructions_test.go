package settings

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

const instructionsPath = "/orgs/org_acme/instructions"

// edited is the form of a page, as a browser sends it: the text's lines end with
// CRLF. edit changes the text, whose lines end with LF in the browser.
func (r reply) edited(t testing.TB, edit func(text string) string) url.Values {
	t.Helper()
	found := regexp.MustCompile(`(?s)<textarea id="instructions"[^>]*>(.*?)</textarea>`).FindStringSubmatch(r.Body)
	if found == nil {
		t.Fatalf("no textarea: %.3000s", r.Body)
	}
	// What an HTML parser does, in its order.
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(found[1])
	text = edit(html.UnescapeString(strings.TrimPrefix(text, "\n")))
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return url.Values{"version": {r.field(t, "version")}, "instructions": {strings.ReplaceAll(text, "\n", "\r\n")}}
}

func asItIs(text string) string { return text }

func becomes(text string) func(string) string { return func(string) string { return text } }

func (w *env) instructions() (i store.Instructions) {
	w.Helper()
	w.View(func(tx store.Tx) (err error) {
		i, err = tx.Instructions("org_acme")
		return err
	})
	return i
}

func (w *env) instruct(text string) {
	w.Helper()
	w.Update(func(tx store.Tx) error { return store.SetInstructions(tx, "usr_ada", "org_acme", text, true) })
}

func TestInstructionsFromTheFirstToNone(t *testing.T) {
	b := newEnv(t).signedIn("usr_ada")
	page := b.get(instructionsPath)
	page.wants(t, 200, "No instructions yet")
	b.post(instructionsPath, page.edited(t, asItIs))
	if b.instructions().Set {
		t.Error("an empty form set instructions")
	}

	b.Advance(time.Hour)
	const text = "\n Be brief.\n\n</textarea><script>alert(1)</script> & \"more\"\n"
	saved := b.post(instructionsPath, page.edited(t, becomes(text)))
	if saved.Status != 303 || b.instructions().Text != text {
		t.Errorf("%d, %q", saved.Status, b.instructions().Text)
	}
	page = b.get(strings.TrimPrefix(saved.location(), Path))
	page.wants(t, 200, "The instructions were saved.", "2026-10-06T13:00:00.000Z", "&lt;/textarea&gt;&lt;script&gt;")
	if got := page.edited(t, asItIs).Get("instructions"); got != strings.ReplaceAll(text, "\n", "\r\n") {
		t.Errorf("the form has %q", got)
	}

	if r := b.post(instructionsPath, page.edited(t, becomes(""))); r.Status != 303 || r.location() != Path+instructionsPath+"/clear" {
		t.Errorf("an empty text leads to %d %s", r.Status, r.location())
	}
	ask := b.get(instructionsPath + "/clear")
	ask.wants(t, 200, ">Clear the instructions?</h1>", "characters</strong> are cleared", "&lt;script&gt;")
	if !b.instructions().Set {
		t.Fatal("asking cleared them")
	}
	b.post(instructionsPath+"/clear", url.Values{"version": {ask.field(t, "version")}})
	if b.instructions().Set {
		t.Error("they are still set")
	}
	b.get(instructionsPath).wants(t, 200, "Cleared ")
	b.get(instructionsPath+"/clear").wants(t, 200, "There are no instructions.")
	equalActions(t, b.env, "assistant.instructionsChanged", "assistant.instructionsChanged")
}

// What was not changed in the browser stays as it was, byte for byte.
func TestInstructionsThatWereNotChanged(t *testing.T) {
	for _, text := range []string{
		"", "\n", "\r\n", "\r", "\n\n", "a\r\nb\nc\rd\n\r\n\r", "\x00", " \t ", "é\u2028😀", "&amp;<b>", "\ufeffBOM", strings.Repeat("é", 64<<10),
	} {
		b := newEnv(t).signedIn("usr_ada")
		b.instruct(text)
		before := b.instructions()
		b.Advance(time.Hour)
		r := b.post(instructionsPath, b.get(instructionsPath).edited(t, asItIs))
		if r.Status != 303 || !strings.HasSuffix(r.location(), "unchanged") || b.instructions() != before {
			t.Errorf("%.40q: %d %s, and now %.40q", text, r.Status, r.location(), b.instructions().Text)
		}
	}
}

func TestInstructionsThatTwoChange(t *testing.T) {
	b := newEnv(t).signedIn("usr_ada")
	b.instruct("Before.")
	mine := b.get(instructionsPath).edited(t, becomes("<b>Mine.\n"))
	b.Advance(time.Minute)
	b.instruct("<i>Theirs.")
	conflict := b.post(instructionsPath, mine)
	conflict.wants(t, 412, "Somebody else changed the instructions", "&lt;b&gt;Mine.", "&lt;i&gt;Theirs.", "Keep their text", "Replace their text")
	if got := b.instructions().Text; got != "<i>Theirs." {
		t.Errorf("there is %q", got)
	}

	again := conflict.edited(t, asItIs)
	b.Advance(time.Minute)
	b.instruct("Theirs again.")
	conflict = b.post(instructionsPath, again)
	conflict.wants(t, 412, "Theirs again.")
	if r := b.post(instructionsPath, conflict.edited(t, asItIs)); r.Status != 303 || b.instructions().Text != "<b>Mine.\n" {
		t.Errorf("%d, %q", r.Status, b.instructions().Text)
	}

	ask := b.get(instructionsPath + "/clear")
	b.Advance(time.Minute)
	b.instruct("A third.")
	b.post(instructionsPath+"/clear", url.Values{"version": {ask.field(t, "version")}}).wants(t, 412, "A third.", "Nothing was cleared")
	if !b.instructions().Set {
		t.Error("they were cleared")
	}
}

func TestInstructionsErrors(t *testing.T) {
	b := newEnv(t).signedIn("usr_ada")
	b.instruct("Before.")
	for _, text := range []string{strings.Repeat("é", 64<<10+1), "\xff"} {
		form := b.get(instructionsPath).edited(t, becomes(text))
		r := b.post(instructionsPath, form)
		r.wants(t, 400, `aria-invalid="true"`, `id="instructions-error"`)
		if text != "\xff" && r.edited(t, asItIs).Get("instructions") != text {
			t.Error("what was written is gone")
		}
	}
	alan := b.env.signedIn("usr_alan")
	alan.post("/orgs/org_other/instructions", url.Values{"instructions": {"x"}}).wants(t, 404)
	alan.post("/orgs/org_other/instructions/clear", nil).wants(t, 404)
	alan.get("/orgs/org_other/instructions/clear").wants(t, 404)
	if got := b.instructions().Text; got != "Before." {
		t.Errorf("there is %q", got)
	}
}
