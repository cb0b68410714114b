package openapi

import (
	"fmt"
	"testing"
)

func TestArgumentsOfATool(t *testing.T) {
	for version, document := range documents() {
		tools, err := Tools(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			if tool.Name != "testWebhook" {
				continue
			}
			want := "[{id id path true} {idempotencyKey Idempotency-Key header false}]"
			if got := fmt.Sprint(tool.Parameters); got != want || tool.Path != "/webhooks/:id/test" {
				t.Errorf("%s: %s %s, want %s", version, tool.Path, got, want)
			}
		}
	}
}
