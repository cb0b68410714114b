package openapitest

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// WebhookFaults are where a request that a receiver got is not as the document's
// webhooks say.
func (c *Contract) WebhookFaults(header http.Header, body []byte) (faults []string) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []string{"the body of a webhook is not JSON"}
	}
	envelope, _ := value.(map[string]any)
	kind, _ := envelope["type"].(string)
	event := c.top().at("webhooks", kind, "post")
	if event.value == nil {
		return []string{fmt.Sprintf("the document has no event %q", kind)}
	}
	for _, p := range event.parameters() {
		faults = append(faults, p.valueFaults(valuesOf(header, p.text("name")))...)
	}
	return append(faults, event.requestBodyFaults(Exchange{RequestBody: body})...)
}
