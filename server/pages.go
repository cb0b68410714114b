package server

import (
	"net/http"
	"sync"

	"teamdata/internal/web"
	"teamdata/store"
)

func (r *request) listMembers() error  { return r.list(store.Tx.MemberPage) }
func (r *request) listAuditLog() error { return r.list(store.Tx.AuditPage) }

// pageReader reads a page of one of the lists, appending its items to dst.
type pageReader func(tx store.Tx, orgID string, after store.Cursor, limit int, dst []byte) (store.Page, error)

// list answers a page. Its body is put together out of the stored items' bytes
// inside the View, and sent after it: a slow client holds no transaction open.
func (r *request) list(read pageReader) error {
	q, err := web.ParsePageQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	body := bodies.Get().(*[]byte)
	defer bodies.Put(body)
	var page store.Page
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		opening := append((*body)[:0], web.Opening...)
		page, err = read(tx, r.access.Key.OrgID, q.After, q.Limit, opening)
		return err
	})
	if err != nil {
		return err
	}
	*body = web.AppendRest(page, q.AfterText)
	r.answer(web.JSON(http.StatusOK, *body))
	return nil
}

// bodies are the buffers that pages are built in.
var bodies = sync.Pool{New: func() any {
	b := make([]byte, 0, 16<<10)
	return &b
}}
