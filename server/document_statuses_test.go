package server

import (
	"net/http"
	"slices"
)

// fuzzedKeys are values of the header Authorization, and what the fixture's keys
// are answered on the operations in the order of their paths: the instructions,
// the audit log, the members, a test delivery; and on those that pull. All others are 401.
var fuzzedKeys = map[string][5]int{
	"Bearer key_read.s3cret":        {200, 200, 200, 403, 403},
	"Bearer key_write.s3cret":       {403, 403, 403, 200, 403},
	goodKey:                         {200, 200, 200, 200, 403},
	"Bearer key_team.s3cret":        {200, 402, 200, 200, 403},
	"Bearer key_readers.s3cret":     {200, 200, 200, 402, 402},
	"Bearer key_free.s3cret":        {402, 402, 402, 402, 402},
	"Bearer key_lapsed.s3cret":      {402, 402, 402, 402, 402},
	goodPullKey:                     {403, 403, 403, 403, 200},
	"Bearer key_second.s3cret":      {403, 403, 403, 403, 200},
	"Bearer key_teampull.s3cret":    {403, 402, 403, 403, 200},
	"Bearer key_readerspull.s3cret": {403, 403, 403, 402, 402},
	"Bearer key_revoked.s3cret":     {}, "Bearer key_expired.s3cret": {}, "Bearer key_demoted.s3cret": {}, "Bearer key_left.s3cret": {}, "Bearer key_gone.s3cret": {},
	"Bearer key_none.s3cret": {}, "Bearer key_read.wrong": {}, "Bearer key_read.": {}, "Bearer key_read": {}, "Bearer": {}, "Basic a2V5": {}, "": {},
}

const documentedBody = 64 << 10 // the most bytes that a request's body may have

const (
	goodKey     = "bearer   key_both.s3cret"
	goodPullKey = "Bearer key_pull.s3cret"
)

// goodKey is a key that the operation accepts.
func (o operation) goodKey() string {
	if o.base == pullPath {
		return goodPullKey
	}
	return goodKey
}

func (a asking) knownVersion() bool {
	return len(a.version) == 0 || len(a.version) == 1 && slices.ContainsFunc(threeVersions, func(v version) bool { return v.date == a.version[0] })
}

// withKey is what the request's key is answered.
func (a asking) withKey() int {
	of := fuzzedKeys[a.key]
	switch {
	case of[0] == 0:
		return http.StatusUnauthorized
	case a.base == pullPath:
		return of[4]
	}
	return of[slices.Index([]string{"/assistant/instructions", "/audit-log", "/members", "/webhooks/{id}/test"}, a.path)]
}

// statuses are what the request may be answered with, in the current version, as
// the order of the checks has it.
func (a asking) statuses() []int {
	switch status := a.withKey(); {
	case !a.route:
		return []int{http.StatusNotFound}
	case a.method != a.operation.method && (a.method != "HEAD" || a.operation.method != "GET"):
		return []int{http.StatusMethodNotAllowed}
	case !a.knownVersion():
		return []int{http.StatusBadRequest}
	case status == http.StatusUnauthorized:
		return []int{status}
	case status != http.StatusOK:
		return []int{status, http.StatusTooManyRequests}
	case a.body != nil && len(a.sent) > documentedBody:
		return []int{http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}
	case !a.fits:
		return []int{http.StatusBadRequest, http.StatusTooManyRequests}
	case a.method == "POST" && len(a.sent) > documentedBody:
		return []int{http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}
	case a.body != nil:
		return []int{http.StatusOK, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests}
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
