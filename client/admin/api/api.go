// Package api has the types of the requests and answers of the admin API, generated from
// the API's description. It imports nothing but the standard library. It exports more
// than 40 names because the API has as many types.
package api
