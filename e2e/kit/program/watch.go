package program

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"teamdata/e2e/kit"
	"teamdata/server"
)

// AwaitHealth waits until the server is ready, or until it says why it is not.
func (p *Process) AwaitHealth(want int, why string) {
	p.T.Helper()
	p.Await("readiness as it should be", func() bool {
		status, body := p.Health(server.ReadyPath)
		return status == want && strings.Contains(body, why)
	})
}

// Health asks a health check of the public listener.
func (p *Process) Health(path string) (status int, body string) {
	p.T.Helper()
	a := kit.Get(p.T, p.Client, p.URL+path)
	return a.Status, a.Body
}

// MetricsURL is where the log says that the metrics are.
func (p *Process) MetricsURL() (url string) {
	p.T.Helper()
	p.Await("the metrics' address", func() bool {
		for _, line := range p.Out.Lines() {
			var fields map[string]any
			if json.Unmarshal([]byte(line), &fields) == nil && fields["message"] == "serving metrics" {
				url = fields["url"].(string)
			}
		}
		return url != ""
	})
	return url
}

// Scraped are the samples of a scrape: each name with its labels, and its value.
func Scraped(t *testing.T, client *http.Client, url string) map[string]float64 {
	t.Helper()
	a := kit.Get(t, client, url)
	if a.Status != 200 {
		t.Fatalf("answered %d %s", a.Status, a.Body)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(a.Body))
	kit.Must(t, err)
	samples := map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			samples[name+labelsOf(m)] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return samples
}

func labelsOf(m *dto.Metric) (text string) {
	for _, l := range m.Label {
		text += fmt.Sprintf(" %s=%s", l.GetName(), l.GetValue())
	}
	return text
}
