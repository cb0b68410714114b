package bench

import (
	"encoding/json"
	"io"
	"time"
)

// Report is what a run found.
type Report struct {
	Machine   Machine   `json:"machine"`
	StartedAt time.Time `json:"startedAt"`
	Seconds   float64   `json:"seconds"` // that the run took
	Figures   []Figure  `json:"figures"`
	Notes     []string  `json:"notes"` // what a reader of the figures should know
}

// Figure is one number, and how it compares.
type Figure struct {
	Name    string   `json:"name"`
	Value   float64  `json:"value"`
	Unit    string   `json:"unit"`
	Floor   *float64 `json:"floor"` // in the same unit; nil: it is a floor itself, or has none
	Ratio   *float64 `json:"ratio"` // Value by Floor
	FloorOf string   `json:"floorOf"`
	Meaning string   `json:"meaning"`
	Rounds  []Round  `json:"rounds"`
}

// Round is one turn of both. Floor is 0 where there is none.
type Round struct {
	Value float64 `json:"value"`
	Floor float64 `json:"floor"`
}

func (r Round) ratio() float64 { return r.Value / r.Floor }

// WriteJSON writes the report as one JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
