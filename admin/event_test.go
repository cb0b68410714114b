package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"teamdata/wire/eventtype"

	"teamdata/e2e/kit"
	"teamdata/store"
)

func (env *testEnv) emit(org, kind, data string, header ...string) kit.Answer {
	env.Helper()
	return env.do("POST", "/orgs/"+org+"/events", `{"type":"`+kind+`","data":`+data+`}`, header...)
}

// filled are data that their built-in types take.
var filled = map[string]string{
	"member.added":                  `{"orgId":"org_acme","memberId":"m","userId":"u","role":"r"}`,
	"member.changed":                `{"orgId":"org_acme","memberId":"m","userId":"u","role":"r","name":"","email":"","previous":{"name":"n"}}`,
	"member.removed":                `{"orgId":"org_acme","memberId":"m","userId":"u","role":"r"}`,
	"subscription.changed":          `{"orgId":"org_acme","subscriptionId":"s","product":"p","plan":"l","interval":"i","status":"t"}`,
	"file.uploaded":                 `{"orgId":"org_acme","fileId":"f","name":"n","contentType":"c","size":1.5}`,
	"assistant.instructionsChanged": `{"orgId":"org_acme"}`,
}

// The data of a built-in type has the fields of the type, of their types, and no
// others; that of assistant.instructionsChanged may have others.
func TestBuiltInEvents(t *testing.T) {
	env := newTestEnv(t)
	for kind, data := range filled {
		env.wantAnswer(env.emit("org_acme", kind, data), 201, `{"deliveries":["{{whd}}"]}`)
		var fields map[string]any
		kit.Must(t, json.Unmarshal([]byte(data), &fields))
		for name := range fields {
			env.wantError(env.emit("org_acme", kind, with(fields, name, nil)), store.CodeBadRequest, "data: missing property '"+name+"'")
			env.wantError(env.emit("org_acme", kind, with(fields, name, true)), store.CodeBadRequest, "data."+name+": got boolean, want ")
		}
		more := env.emit("org_acme", kind, with(fields, "more", "x"))
		if kind == store.EventInstructionsChanged {
			env.wantAnswer(more, 201, "{{*}}")
		} else {
			env.wantError(more, store.CodeBadRequest, "data: additional properties 'more' not allowed")
		}
		env.wantError(env.emit("org_acme", kind, with(fields, "orgId", "org_other")), store.CodeBadRequest, "data.orgId: must be org_acme")
	}
	for previous, why := range map[string]string{`{}`: "data.previous: ", `{"id":"m"}`: "data.previous: additional properties 'id' not allowed", `{"email":null}`: "data.previous.email: got null, want string"} {
		data := strings.Replace(filled["member.changed"], `{"name":"n"}`, previous, 1)
		env.wantError(env.emit("org_acme", "member.changed", data), store.CodeBadRequest, why)
	}
}

// with is an object with one field changed; nil takes it out.
func with(fields map[string]any, name string, value any) string {
	changed := map[string]any{}
	for n, v := range fields {
		changed[n] = v
	}
	if changed[name] = value; value == nil {
		delete(changed, name)
	}
	text, _ := json.Marshal(changed)
	return string(text)
}

// What the rules themselves send, the schemas take.
func TestOwnEventsFitTheirSchemas(t *testing.T) {
	env := newTestEnv(t)
	for _, o := range operations {
		if o = o.in(env); o.events != "" && o.path != "/orgs/org_acme/events" {
			env.do(o.method, o.path, o.body)
		}
	}
	kinds := map[string]bool{}
	env.View(func(tx store.Tx) error {
		e, err := tx.Endpoint("org_acme", "whe_1")
		if err != nil {
			return err
		}
		page, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 100)
		for _, d := range page {
			event, err := tx.Event(d.EventID)
			if err != nil {
				return err
			}
			var body struct{ Data json.RawMessage }
			if err := json.Unmarshal(event.Body, &body); err != nil {
				return err
			}
			s, err := env.admin.schemas.Compile(eventtype.BuiltIn(d.EventType).Schema)
			if err != nil {
				return err
			}
			if err := s.Check(body.Data); err != nil {
				t.Errorf("%s: %v", event.Body, err)
			}
			kinds[d.EventType] = true
		}
		return err
	})
	equal(t, "kinds of events", len(kinds), len(store.BuiltInEventTypes)-len(store.Signals))
}

// The data of a registered type is held to the schema that it has in the commit.
func TestRegisteredEvents(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("PATCH", "/orgs/org_acme/endpoints/whe_1", `{"events":["invoice.paid"]}`), 200, "{{*}}")
	env.wantError(env.emit("org_acme", "invoice.paid", `{"amount":"x"}`), store.CodeBadRequest, "data.amount: got string, want number")
	env.wantError(env.emit("org_acme", "invoice.paid", `{}`), store.CodeBadRequest, "data: missing property 'amount'")
	env.wantAnswer(env.emit("org_acme", "invoice.paid", ` { "amount" : 1.50, "text": "<é>" } `), 201, `{"deliveries":["{{whd}}"]}`)
	env.wantAnswer(env.do("PUT", "/event-types/invoice.paid", `{"schema":{"required":["total"]}}`), 200, "{{*}}")
	env.wantError(env.emit("org_acme", "invoice.paid", `{"amount":1}`), store.CodeBadRequest, "data: missing property 'total'")
	env.wantAnswer(env.do("PUT", "/event-types/invoice.paid", `{}`), 200, "{{*}}")
	env.wantAnswer(env.emit("org_acme", "invoice.paid", `{"any":[{}]}`), 201, `{"deliveries":["{{whd}}"]}`)
	var bodies []string
	env.View(func(tx store.Tx) error {
		for _, id := range env.claim() {
			d, err := tx.Delivery(id)
			if err != nil {
				return err
			}
			event, err := tx.Event(d.EventID)
			if err != nil {
				return err
			}
			bodies = append(bodies, string(event.Body))
		}
		return nil
	})
	equal(t, "bodies", fmt.Sprint(bodies), `[{"type":"invoice.paid","timestamp":`+at+`,"data":{"amount":1.50,"text":"<é>"}} {"type":"invoice.paid","timestamp":`+at+`,"data":{"any":[{}]}}]`)
}

// An endpoint that selects a group gets types that are registered after it.
func TestEventsOfLaterTypes(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("POST", "/orgs/org_acme/endpoints", `{"url":"https://acme.example/2","events":["*"]}`), 201, "{{*}}")
	env.wantAnswer(env.do("PATCH", "/orgs/org_acme/endpoints/whe_1", `{"events":["invoice.*"]}`), 200, `{"id":"whe_1",{{*}},"events":["invoice.*"],{{*}}`)
	env.wantAnswer(env.do("PUT", "/event-types/invoice.sent", `{}`), 201, "{{*}}")
	env.wantAnswer(env.emit("org_acme", "invoice.sent", `{}`), 201, `{"deliveries":["{{whd}}","{{whd}}"]}`)
	env.wantAnswer(env.emit("org_acme", "invoice.paid", `{"amount":1}`), 201, `{"deliveries":["{{whd}}","{{whd}}"]}`)
	env.wantAnswer(env.emit("org_acme", "member.added", filled["member.added"]), 201, `{"deliveries":["{{whd}}"]}`)
	env.wantAnswer(env.do("DELETE", "/event-types/invoice.sent", ""), 204, "")
}

// A schema that is changed between the check and the commit counts: while the
// writer is held, one of two equal requests hears that the other has come as far
// as waiting for it.
func TestSchemaThatChangesMeanwhile(t *testing.T) {
	env := newTestEnv(t)
	held, release, changed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		changed <- env.Store.Update(env.Context(), store.All, func(tx store.Tx) error {
			close(held)
			<-release
			return tx.PutEventType(store.EventType{Name: "invoice.paid", Schema: []byte(`{"required":["total"]}`)})
		})
	}()
	<-held
	answers := make(chan kit.Answer, 2)
	for range cap(answers) {
		go func() { answers <- env.emit("org_acme", "invoice.paid", `{"amount":1}`, "Idempotency-Key", "k") }()
	}
	env.wantError(<-answers, store.CodeConflict, "A request with the same Idempotency-Key is still running.")
	close(release)
	kit.Must(t, <-changed)
	env.wantError(<-answers, store.CodeBadRequest, "data: missing property 'total'")
}

func TestEventsThatAreNot(t *testing.T) {
	env := newTestEnv(t)
	env.wantError(env.emit("org_acme", "webhook.test", `{"orgId":"org_acme","endpointId":"whe_1"}`), store.CodeBadRequest, "type: webhook.test can't be sent as an event of your own")
	env.wantError(env.emit("org_acme", "none", `{}`), store.CodeBadRequest, `type: "none" is not an event type; the event types are member.added, `)
	env.wantError(env.do("POST", "/orgs/org_acme/events", `{"data":{}}`), store.CodeBadRequest, `type: "" is not an event type`)
	for _, data := range []string{"null", "[]", `"x"`, "7", "true"} {
		env.wantError(env.emit("org_acme", "invoice.paid", data), store.CodeBadRequest, "data: is missing, or not an object")
	}
	deep := strings.Repeat(`{"a":`, 65) + "{}" + strings.Repeat("}", 65)
	env.wantError(env.emit("org_acme", "invoice.paid", deep), store.CodeBadRequest, "data: nests objects or lists")
	env.wantError(env.emit("org_acme", "invoice.paid", `{"amount":1e999999999}`), store.CodeBadRequest, "data: contains a number with an exponent")
	// Without an endpoint that selects it, or the feature, nothing is made.
	env.wantAnswer(env.emit("org_acme", "invoice.paid", `{"amount":1}`), 201, `{"deliveries":[]}`)
	env.wantAnswer(env.do("PUT", "/orgs/org_acme/subscription", `{"status":"canceled"}`), 200, "{{*}}")
	env.wantAnswer(env.emit("org_acme", "member.added", filled["member.added"]), 201, `{"deliveries":[]}`)
}

func TestBuiltInTypesAreComplete(t *testing.T) {
	for _, name := range store.BuiltInEventTypes {
		if eventtype.BuiltIn(name).Description == "" || len(eventtype.BuiltIn(name).Schema) == 0 {
			t.Errorf("%s is missing in eventtypes.json", name)
		}
	}
	equal(t, "types", len(store.BuiltInEventTypes), 14)
}
