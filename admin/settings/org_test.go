package settings

import (
	"encoding/xml"
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/testkit"
	"teamdata/store"
	"teamdata/store/storetest"
)

const overviewPath = "/orgs/org_acme"

// addEndpoint adds an endpoint to org_acme.
func (w *env) addEndpoint(e store.Endpoint) store.Endpoint {
	w.Helper()
	e.OrgID, e.Events = "org_acme", []string{"member.added"}
	if e.URL == "" {
		e.URL = "https://acme.example/" + e.ID
	}
	w.Update(func(tx store.Tx) (err error) {
		e, err = store.ImportEndpoint(tx, e)
		return err
	})
	return e
}

func (w *env) count(e store.Endpoint, ago time.Duration, c store.DeliveryCounts) {
	w.Helper()
	w.Update(func(tx store.Tx) error { return tx.AddDeliveryCounts(e.OrgID, e.Number, w.Now().Add(-ago), c) })
}

func TestOverviewOfANewOrg(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	b.get(overviewPath).wants(t, 200, "Next steps", "/settings/orgs/org_acme/new-endpoint", "/settings/orgs/org_acme/new-key",
		w.server.URL+"/api/v1/members", "Nothing was sent in the last 30 days.", "<strong>3</strong>")
	w.addEndpoint(store.Endpoint{ID: "whe_1"})
	b.newKey(readKey("one"))
	r := b.get(overviewPath)
	if strings.Contains(r.Body, "Next steps") || strings.Contains(r.Body, "need attention") {
		t.Errorf("there is nothing to do: %s", r.Body)
	}
	w.signedIn("usr_alan").get("/orgs/org_other").wants(t, 404)
	b.get("/orgs/org_none").wants(t, 404)
}

func TestOverviewBanners(t *testing.T) {
	w := newEnv(t)
	subscribe := func(plan string) {
		w.Update(func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", "org_acme", store.Subscription{Plan: plan})
			return err
		})
	}
	b := w.signedIn("usr_ada")
	subscribe("free")
	b.get(overviewPath).wants(t, 200, "No events are sent", "answered <span class=\"mono\">402</span>")
	subscribe("team")
	w.Update(func(tx store.Tx) error {
		return tx.PutMail(store.Mail{ID: "mai_1", OrgID: "org_acme", To: "a@b.example", Template: store.MailEndpointDisabled, CreatedAt: testkit.Noon, DueAt: testkit.Noon})
	})
	if r := b.get(overviewPath); strings.Contains(r.Body, "No events are sent") || strings.Contains(r.Body, ">402<") || strings.Contains(r.Body, "no mail server") {
		t.Errorf("a banner without a reason: %s", r.Body)
	}

	w.server = httptest.NewTLSServer(New(storetest.Scoped(t, w.Store), Config{PublicURL: "https://data.example.com", Log: zerolog.Nop()}))
	t.Cleanup(w.server.Close)
	ada := w.signedIn("usr_ada")
	ada.get(overviewPath).wants(t, 200, "no mail server", "https://data.example.com/api/v1/members")
	if r := ada.get("/orgs/org_other"); strings.Contains(r.Body, "no mail server") {
		t.Error("the mail is another org's")
	}
}

// Endpoints that are disabled, failed lately or have many waiting are named, and
// those that are well are not.
func TestOverviewAttention(t *testing.T) {
	w := newEnv(t)
	w.addEndpoint(store.Endpoint{ID: "whe_off", DisabledAt: testkit.Noon.Add(-time.Hour), Description: "<script>off"})
	failing := w.addEndpoint(store.Endpoint{ID: "whe_failing", URL: "https://acme.example/<i>'\""})
	longAgo := w.addEndpoint(store.Endpoint{ID: "whe_well"})
	w.addEndpoint(store.Endpoint{ID: "whe_busy", URL: "https://acme.example/busy"})
	w.count(failing, time.Hour, store.DeliveryCounts{Failed: 3})
	w.count(longAgo, 25*time.Hour, store.DeliveryCounts{Failed: 3, Acknowledged: 1})
	w.Update(func(tx store.Tx) error {
		for range manyWaiting {
			if _, err := store.SendTest(tx, "org_acme", "whe_busy"); err != nil {
				return err
			}
		}
		_, err := store.SendTest(tx, "org_acme", "whe_well")
		return err
	})
	r := w.signedIn("usr_ada").get(overviewPath)
	r.wants(t, 200, "need attention", "endpoints/whe_off", "endpoints/whe_failing", "endpoints/whe_busy", ">100 <", "&lt;script&gt;off", "&lt;i&gt;")
	if strings.Contains(r.Body, "whe_well") || strings.Contains(r.Body, "whe_other") || strings.Contains(r.Body, "<i>") {
		t.Errorf("%s", r.Body)
	}
}

// The pictures and their tables have the numbers that are kept, of this org only,
// and each picture is well-formed.
func TestOverviewNumbers(t *testing.T) {
	w := newEnv(t)
	one, two := w.addEndpoint(store.Endpoint{ID: "whe_1"}), w.addEndpoint(store.Endpoint{ID: "whe_2"})
	quick, slow := [8]int{0, 9, 0, 1}, [8]int{7: 2}
	w.count(one, 0, store.DeliveryCounts{Acknowledged: 10, Retrying: 2, Latency: quick})
	w.count(two, 0, store.DeliveryCounts{Acknowledged: 1, Failed: 4, Latency: [8]int{1}})
	w.count(one, 3*time.Hour, store.DeliveryCounts{Acknowledged: 2, Latency: slow})
	w.count(one, 24*time.Hour, store.DeliveryCounts{Retrying: 7})
	w.count(one, 29*24*time.Hour, store.DeliveryCounts{Failed: 5})
	w.count(one, 30*24*time.Hour, store.DeliveryCounts{Failed: 1000})
	w.Update(func(tx store.Tx) error {
		return tx.AddDeliveryCounts("org_other", 1, testkit.Noon, store.DeliveryCounts{Failed: 1000})
	})
	r := w.signedIn("usr_ada").get(overviewPath)
	row := func(from string, cells ...string) string {
		row := `<tr><th scope="row">` + from + `</th>`
		for i := 0; i < len(cells); i += 2 {
			row += `<td class="number" data-label="` + cells[i] + `">` + cells[i+1] + `</td>`
		}
		return row + `</tr>`
	}
	outcomes := func(from, acknowledged, retrying, failed string) string {
		return row(from, "Acknowledged", acknowledged, "Retrying", retrying, "Failed", failed)
	}
	latency := func(from, p50, p95 string) string { return row(from, "p50", p50, "p95", p95) }
	r.wants(t, 200,
		outcomes("6 Oct 2026, 12:00", "11", "2", "4"), latency("6 Oct 2026, 12:00", "≤ 100 ms", "≤ 500 ms"),
		outcomes("6 Oct 2026, 09:00", "2", "0", "0"), latency("6 Oct 2026, 09:00", "&gt; 5 s", "&gt; 5 s"),
		outcomes("5 Oct 2026, 13:00", "0", "0", "0"), latency("5 Oct 2026, 13:00", "–", "–"),
		outcomes("6 Oct 2026", "13", "2", "4"), latency("6 Oct 2026", "≤ 100 ms", "&gt; 5 s"),
		outcomes("5 Oct 2026", "0", "7", "0"), outcomes("7 Sep 2026", "0", "0", "5"),
		"13 attempts were acknowledged, 2 were unsuccessful and are retried, 4 failed for good.")
	if strings.Contains(r.Body, ">1000<") || strings.Contains(r.Body, "5 Oct 2026, 12:00") {
		t.Error("what is too old, or another org's, is shown")
	}
	pictures := regexp.MustCompile(`(?s)<svg class="chart".*?</svg>`).FindAllString(r.Body, -1)
	if len(pictures) != 4 {
		t.Fatalf("%d pictures", len(pictures))
	}
	for _, picture := range pictures {
		wellFormed(t, picture)
	}
	if strings.Contains(r.Body, " style=") || regexp.MustCompile(`\son[a-z]+=`).MatchString(r.Body) {
		t.Error("the page has inline styles or scripts")
	}
}

func wellFormed(t *testing.T, picture string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v: %s", err, picture)
		}
	}
}

// Whatever the numbers, every bar lies inside of the plot, bars of a pile stand on
// one another, and what is there is seen.
func TestOutcomesChart(t *testing.T) {
	for _, most := range []int{1, 2, 3, 999, 1_000_000_000} {
		s := newTimeSeries(testkit.Noon, time.Hour, 24)
		for i := range s.Points {
			s.Points[i].DeliveryCounts = store.DeliveryCounts{Acknowledged: most * i / 24, Retrying: i % 2, Failed: most * (i % 3)}
		}
		bars := 0
		for _, p := range s.Points {
			for _, n := range []int{p.Acknowledged, p.Retrying, p.Failed} {
				if n > 0 {
					bars++
				}
			}
		}
		c := outcomesChart("id", "Title", s)
		if len(c.Bars) != bars {
			t.Errorf("%d: %d bars, want %d", most, len(c.Bars), bars)
		}
		for _, b := range c.Bars {
			if b.X < chartLeft || b.X+b.Width > chartWidth || b.Y < chartTop || b.Y+b.Height > chartTop+plotHeight+1 || b.Width < 1 || b.Height < 1 {
				t.Errorf("%d: %+v is outside", most, b)
			}
		}
	}
}

func TestLatencyChart(t *testing.T) {
	s := newTimeSeries(testkit.Noon, time.Hour, 24)
	acknowledged := func(hour int, class int) {
		s.Points[hour].Acknowledged = 1
		s.Points[hour].Latency[class] = 1
	}
	acknowledged(0, 0)
	acknowledged(5, 3)
	acknowledged(6, 7)
	acknowledged(23, 1)
	c := latencyChart("id", "Title", s)
	// Of each: a dot, a line through the two neighbours, a dot.
	if n := len(c.Curves); n != 6 || c.Curves[0].Dot.X == 0 || strings.Count(c.Curves[1].Points, ",") != 2 || c.Curves[2].Dot.X == 0 {
		t.Errorf("%d curves: %+v", n, c.Curves)
	}
	for _, line := range c.Lines {
		if line.Y < chartTop || line.Y > chartTop+plotHeight || line.Text == "" {
			t.Errorf("%+v", line)
		}
	}
}

// The share of attempts counts up, as counting them all one by one does.
func TestLatencyClass(t *testing.T) {
	for n := 1; n <= 45; n++ {
		var p point
		for i := range n {
			p.Latency[i*len(p.Latency)/n]++
			p.Acknowledged++
		}
		for _, percent := range []int{50, 95, 100} {
			place := (n*percent + 99) / 100 // of the attempt, counted from 1, in the order of their latency
			want := (place - 1) * len(p.Latency) / n
			if got := p.latencyClass(percent); got != want {
				t.Errorf("p%d of %d is class %d, want %d", percent, n, got, want)
			}
		}
	}
	if got := (point{}).latencyClass(95); got != -1 {
		t.Errorf("of none: %d", got)
	}
}
