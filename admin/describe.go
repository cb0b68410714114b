package admin

import (
	_ "embed"
	"net/http"

	"teamdata/internal/web"
)

// documentJSON is the API's description, made from openapi.yaml, which is written
// by hand, by `go test ./admin -run DescriptionIsMade -update`.
//
//go:embed openapi.json
var documentJSON []byte

// description is where the routes are described, itself being none of them.
var description = route{"GET", "/openapi.json", noBody, (*request).describe}

func (r *request) describe() error {
	r.send(web.JSON(http.StatusOK, documentJSON))
	return nil
}
