package server

import (
	"net/http"
	"sync"

	"teamdata/store"
	"teamdata/wire/web"
)

func (r *request) listMembers() error  { return r.list(store.Tx.MemberPage) }
func (r *request) listAuditLog() error { return r.list(store.Tx.AuditPage) }

// pageReader reads a page of one of the lists, appending its items to dst.
type pageReader func(tx store.Tx, orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error)

// list answers with a page. Its body is assembled from the stored items inside
// the View and sent after it, so a slow client keeps no transaction open.
func (r *request) list(read pageReader) error {
	q, err := web.ParsePageQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	body := bodies.Get().(*[]byte)
	defer bodies.Put(body)
	var page store.Page
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		page, err = read(tx, r.access.Key.OrgID, q.After, q.Limit, append((*body)[:0], web.PageStart...))
		return err
	})
	if err != nil {
		return err
	}
	*body = web.AppendPageEnd(page, q.AfterText)
	r.answer(web.JSON(http.StatusOK, *body))
	return nil
}

// bodies are the buffers that pages are built in.
var bodies = sync.Pool{New: func() any {
	b := make([]byte, 0, 16<<10)
	return &b
}}

// readInstructions answers with the org's instructions to its assistant; null if
// none are set. A client that has them already gets a 304.
func (r *request) readInstructions() error {
	instructions, err := r.instructions()
	if err != nil {
		return err
	}
	a := r.inVersion(web.JSON(http.StatusOK, instructions.AppendJSON(nil)))
	r.send(r.Tagged(a, web.ETag(a.Body)))
	return nil
}

func (r *request) instructions() (instructions store.Instructions, err error) {
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		instructions, err = tx.Instructions(r.access.Key.OrgID)
		return err
	})
	return instructions, err
}

// maxBody is the maximum size of a request's body, in bytes.
const maxBody = 64 << 10

// testWebhook sends a test event to an endpoint: it commits the event and its
// delivery, and the answer too if the request has an Idempotency-Key.
func (r *request) testWebhook() error {
	key, err := r.IdempotencyKey()
	if err != nil {
		return err
	}
	body, err := r.ReadBody(maxBody)
	if err != nil {
		return err
	}
	var print store.Fingerprint // needed only for keyed requests, and not cheap
	if key != "" {
		print = store.FingerprintOf(r.HTTP.Method, r.HTTP.URL.Path, r.s.config.versions[r.version].date, body)
	}
	org := r.access.Key.OrgID
	a, replayed, err := r.s.idempotency.Do(r.HTTP.Context(), r.s.store, store.InOrg(org), store.IdempotencyKey{OrgID: org, Key: key}, print, r.sendTest)
	if err != nil {
		return err
	}
	if replayed {
		r.W.Header()["Idempotent-Replayed"] = web.Replayed
	}
	r.send(a)
	return nil
}

// sendTest is the transaction of testWebhook. Its answer may be kept, so it is
// built as the client will see it: a retry gets the same bytes.
func (r *request) sendTest(tx store.Tx) (store.Answer, error) {
	var a store.Answer
	delivery, err := store.SendTest(tx, r.access.Key.OrgID, r.Param("id"))
	if err == nil {
		body := append(make([]byte, 0, 48), `{"id":`...)
		body = store.AppendJSONString(body, delivery.ID)
		a = web.JSON(http.StatusOK, append(body, '}'))
	}
	a, err = r.AnswerOf(a, err)
	return r.inVersion(a), err
}
