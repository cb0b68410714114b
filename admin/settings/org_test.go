package settings

import (
	"encoding/xml"
	"io"
	"math"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
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
	b.get(overviewPath).wants(t, 200, "Welcome, <bdi>Ada</bdi>", "0 of 5 done", "/settings/orgs/org_acme/new-endpoint", "/settings/orgs/org_acme/new-key",
		w.server.URL+"/api/v1/members")
	b.post("/orgs/org_acme/first-hour/hide", nil).leads(t, overviewPath)
	r := b.get(overviewPath)
	r.wants(t, 200, "<h1>Overview</h1>", "Nothing was sent in the last 24 hours<")
	if strings.Contains(r.Body, "First hour") || strings.Contains(r.Body, "Needs attention") {
		t.Errorf("there is nothing to do: %s", r.Body)
	}
	b.get("/orgs/org_other").wants(t, 200, "First hour") // it was not hidden there
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
		return tx.PutMail(store.Mail{ID: "mai_1", OrgID: "org_acme", To: "a@b.example", Template: store.MailEndpointDisabled, CreatedAt: kit.Noon, DueAt: kit.Noon})
	})
	if r := b.get(overviewPath); strings.Contains(r.Body, "No events are sent") || strings.Contains(r.Body, ">402<") || strings.Contains(r.Body, "no mail server") {
		t.Errorf("a banner without a reason: %s", r.Body)
	}

	var down atomic.Bool
	w.server = httptest.NewTLSServer(New(storetest.Scoped(t, w.Store), Config{PublicURL: "https://data.example.com", Log: zerolog.Nop(), ProxyDown: down.Load}))
	t.Cleanup(w.server.Close)
	ada := w.signedIn("usr_ada")
	if r := ada.get(overviewPath); strings.Contains(r.Body, "Webhooks wait") {
		t.Error("webhooks wait although the proxy works")
	}
	down.Store(true)
	ada.get(overviewPath).wants(t, 200, "<strong>Webhooks wait.</strong>")
	ada.get("/orgs/org_other/endpoints/whe_other").wants(t, 200, "<strong>Webhooks wait.</strong>")
	ada.get(overviewPath).wants(t, 200, "no mail server", "https://data.example.com/api/v1/members")
	if r := ada.get("/orgs/org_other"); strings.Contains(r.Body, "no mail server") {
		t.Error("the mail is another org's")
	}
}

// Endpoints that are disabled, failed lately or have many waiting are named, and
// those that are well are not.
func TestOverviewAttention(t *testing.T) {
	w := newEnv(t)
	w.addEndpoint(store.Endpoint{ID: "whe_off", DisabledAt: kit.Noon.Add(-time.Hour), Description: "<script>off"})
	failing := w.addEndpoint(store.Endpoint{ID: "whe_failing", URL: "https://acme.example/<i>'\""})
	longAgo := w.addEndpoint(store.Endpoint{ID: "whe_well"})
	w.addEndpoint(store.Endpoint{ID: "whe_busy", URL: "https://acme.example/busy"})
	w.attempt(w.test(failing.ID).ID, 500, "the receiver answered 500", `{"error":"no \"x\""}`, time.Hour)
	w.count(longAgo, 25*time.Hour, store.DeliveryCounts{Failed: 3, Acknowledged: 1})
	w.Update(func(tx store.Tx) error {
		for range 100 {
			if _, err := store.SendTest(tx, "org_acme", "whe_busy"); err != nil {
				return err
			}
		}
		_, err := store.SendTest(tx, "org_acme", "whe_well")
		return err
	})
	r := w.signedIn("usr_ada").get(overviewPath)
	r.wants(t, 200, "Needs attention", "endpoints/whe_off", "endpoints/whe_failing", "endpoints/whe_busy", "100 deliveries are waiting", "&lt;script&gt;off", "%3Ci%3E&#39;%22",
		"500: no &#34;x&#34;", "by System")
	if strings.Contains(r.Body, "endpoints/whe_well") || strings.Contains(r.Body, "whe_other") || strings.Contains(r.Body, "<i>") {
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
		return tx.AddDeliveryCounts("org_other", 1, kit.Noon, store.DeliveryCounts{Failed: 1000})
	})
	b := w.signedIn("usr_ada")
	r, month := b.get(overviewPath), b.get(overviewPath+"?range=30d")
	row := func(from string, cells ...string) string {
		row := `<tr><th scope="row">` + from + `</th>`
		for _, cell := range cells {
			row += `<td class="num">` + cell + `</td>`
		}
		return row + `</tr>`
	}
	r.wants(t, 200,
		row("6 Oct, 12:00", "11", "2", "4"), row("6 Oct, 12:00", "≤ 100 ms", "≤ 500 ms"),
		row("6 Oct, 09:00", "2", "0", "0"), row("6 Oct, 09:00", "&gt; 5 s", "&gt; 5 s"),
		row("5 Oct, 13:00", "0", "0", "0"), row("5 Oct, 13:00", "–", "–"),
		"Attempts in the last 24 hours: 13 acknowledged, 2 failed and retried, 4 failed for good",
		"<title>12:00 to 12:59: 11 acknowledged, 4 failed, 2 being retried</title>",
		"<dt>Success</dt><dd>68.4%</dd>", "<dt>Acknowledged</dt><dd>13</dd>", `<a href="?range=24h" aria-current="true">`)
	month.wants(t, 200, row("6 Oct 2026", "13", "2", "4"), row("6 Oct 2026", "≤ 100 ms", "&gt; 5 s"),
		row("5 Oct 2026", "0", "7", "0"), row("7 Sep 2026", "0", "0", "5"), `<a href="?range=30d" aria-current="true">`)
	if strings.Contains(r.Body+month.Body, ">1,000<") || strings.Contains(r.Body, "5 Oct, 12:00") {
		t.Error("what is too old, or another org's, is shown")
	}
	pictures := regexp.MustCompile(`(?s)<svg role="img".*?</svg>`).FindAllString(r.Body, -1)
	if len(pictures) != 2 {
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
func TestAttemptsChart(t *testing.T) {
	for _, most := range []int{1, 2, 3, 999, 1_000_000_000} {
		s := newTimeSeries(kit.Noon, time.Hour, 24, time.UTC)
		bars := 0
		for i := range s.Points {
			s.Points[i].DeliveryCounts = store.DeliveryCounts{Acknowledged: most * i / 24, Retrying: i % 2, Failed: most * (i % 3)}
			for _, n := range []int{s.Points[i].Acknowledged, s.Points[i].Retrying, s.Points[i].Failed} {
				if n > 0 {
					bars++
				}
			}
		}
		for _, b := range attemptsChart(spans[1], s).Bins {
			end := 100.0
			for _, m := range b.Marks {
				top, height := percentOf(t, m.Y), percentOf(t, m.Height)
				if bars--; top < 0 || height < 1 || math.Abs(top+height-end) > 0.02 || percentOf(t, m.X) < percentOf(t, b.X) {
					t.Errorf("%d: %+v does not stand at %v", most, m, end)
				}
				end = top
			}
		}
		if bars != 0 {
			t.Errorf("%d: %d bars are missing", most, bars)
		}
	}
}

func percentOf(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || n < 0 || n > 100 {
		t.Fatalf("%q: %v", text, err)
	}
	return n
}

func TestRoundTop(t *testing.T) {
	for most, want := range map[int]int{1: 3, 3: 3, 4: 6, 82: 90, 1180: 1500, 16: 30, 90: 90, 91: 150} {
		if got := roundTop(most); got != want {
			t.Errorf("above %d: %d, not %d", most, got, want)
		}
	}
}

// A bar goes from the p50 up to the p95; where nothing was acknowledged is none.
func TestLatencyChart(t *testing.T) {
	s := newTimeSeries(kit.Noon, time.Hour, 24, time.UTC)
	s.Points[5].DeliveryCounts = store.DeliveryCounts{Acknowledged: 10, Latency: [8]int{0, 9, 0, 1}}
	c := latencyChart(spans[1], s)
	if want := []mark{{"p95-mark", c.Bins[5].Marks[0].X, "50%", c.Bins[5].Marks[0].Width, "25%"}, {"p50-mark", c.Bins[5].Marks[0].X, "75%", c.Bins[5].Marks[0].Width, "2.4%"}}; !slices.Equal(c.Bins[5].Marks, want) {
		t.Errorf("%+v", c.Bins[5])
	}
	if got := c.Bins[5].Title; got != "18:00 to 18:59: half ≤ 100 ms, 95 % ≤ 500 ms" || len(c.Bins[6].Marks) != 0 {
		t.Errorf("%s, %+v", got, c.Bins[6])
	}
}

// Days begin at midnight of the reader's zone, and times are in it.
func TestTimeSeriesInAZone(t *testing.T) {
	tokyo := zoneNamed("Asia/Tokyo")
	s := newTimeSeries(kit.Noon, 24*time.Hour, 30, tokyo)
	if got := s.Points[29].From.In(tokyo); got.Hour() != 0 || got.Day() != 6 || s.Label(s.Points[29]) != "6 Oct 2026" {
		t.Errorf("the last day begins %v, %s", got, s.Label(s.Points[29]))
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
