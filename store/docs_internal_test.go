package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The limits in docs/faq.md are those of this package.
func TestLimitsInDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/faq.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("| endpoints of an org | %d |", MaxEndpoints),
		fmt.Sprintf("of an org | %d |", maxRunningReplays),
		fmt.Sprintf("instructions | %d,%03d characters |", maxInstructions/1000, maxInstructions%1000),
		fmt.Sprintf("| a name | %d characters |", maxNameLength),
		fmt.Sprintf("| passkeys of an account, and its sessions | %d each |", MaxPasskeys),
		fmt.Sprintf("the last %d |", MaxHistory),
		fmt.Sprintf("the first %d KiB |", MaxKeptAnswer>>10),
		fmt.Sprintf("All %d attempts failed", len(DefaultRetrySchedule)+1),
		fmt.Sprintf("%d days (`--delivery-retention`)", DefaultDeliveryRetention/(24*time.Hour)),
		fmt.Sprintf("%d days (`--held-retention`)", DefaultHeldRetention/(24*time.Hour)),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/faq.md does not say %q", want)
		}
	}
}
