package web

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/rs/zerolog"
)

// Panicked notes in the log's line what a request's work panicked with, and returns
// for the caller to answer 500. When the answer has begun already, it breaks the
// connection off, so that the client can't take half of it for whole.
func Panicked(p any, sent bool, line *zerolog.Event, message string) {
	if p == http.ErrAbortHandler {
		panic(p)
	}
	line.Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).Msg(message)
	if sent {
		panic(http.ErrAbortHandler)
	}
}
