// Package api has the types of what the Team Data API answers and of the events that it
// sends, generated from the API's description. It imports nothing but the standard
// library.
package api
