package server

import (
	"net/http"
	"slices"
)

// fuzzedKeys are values of the header Authorization, and what the fixture's keys
// are answered on the operations in the order of their paths: the instructions,
// the audit log, the members, a test delivery. All others are 401.
var fuzzedKeys = map[string][4]int{
	"Bearer key_read.s3cret":    {200, 200, 200, 403},
	"Bearer key_write.s3cret":   {403, 403, 403, 200},
	goodKey:                     {200, 200, 200, 200},
	"Bearer key_team.s3cret":    {200, 402, 200, 200},
	"Bearer key_readers.s3cret": {200, 200, 200, 402},
	"Bearer key_free.s3cret":    {402, 402, 402, 402},
	"Bearer key_lapsed.s3cret":  {402, 402, 402, 402},
	"Bearer key_revoked.s3cret": {}, "Bearer key_expired.s3cret": {}, "Bearer key_demoted.s3cret": {}, "Bearer key_left.s3cret": {},
	"Bearer key_none.s3cret": {}, "Bearer key_read.wrong": {}, "Bearer key_read.": {}, "Bearer key_read": {}, "Bearer": {}, "Basic a2V5": {}, "": {},
}

const documentedBody = 64 << 10 // the most bytes that a request's body may have

const goodKey = "bearer   key_both.s3cret"

// statuses are what the request may be answered with, in the current version, as
// the order of the checks has it.
func (a asking) statuses() []int {
	status := http.StatusUnauthorized
	if of := fuzzedKeys[a.key]; of[0] != 0 {
		status = of[slices.Index([]string{"/assistant/instructions", "/audit-log", "/members", "/webhooks/{id}/test"}, a.path)]
	}
	switch known := slices.ContainsFunc(threeVersions, func(v version) bool { return len(a.version) == 1 && v.date == a.version[0] }); {
	case !a.route:
		return []int{http.StatusNotFound}
	case a.method != a.operation.method && (a.method != "HEAD" || a.operation.method != "GET"):
		return []int{http.StatusMethodNotAllowed}
	case len(a.version) > 0 && !known:
		return []int{http.StatusBadRequest}
	case status == http.StatusUnauthorized:
		return []int{status}
	case status != http.StatusOK:
		return []int{status, http.StatusTooManyRequests}
	case !a.fits:
		return []int{http.StatusBadRequest, http.StatusTooManyRequests}
	case a.method == "POST" && len(a.body) > documentedBody:
		return []int{http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}
	case a.method == "POST":
		return []int{http.StatusOK, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusTooManyRequests}
	}
	return []int{http.StatusOK, http.StatusNotModified, http.StatusTooManyRequests}
}

// inVersion turns statuses into what the pinned version made of them; see
// threeVersions.
func (a asking) inVersion(statuses []int) []int {
	if len(a.version) == 1 && a.version[0] == "2024-01-01" {
		switch {
		case !a.route:
			return []int{http.StatusGone}
		case statuses[0] == http.StatusUnauthorized:
			return []int{http.StatusForbidden}
		}
	}
	return statuses
}
