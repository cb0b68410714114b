package settings

import (
	"strconv"
	"strings"
	"time"
)

// Measures of a picture, in units of its viewBox.
const (
	chartWidth  = 480
	chartHeight = 200
	chartLeft   = 72 // room for the words of the gridlines
	chartRight  = 24 // room for the half of a time
	chartTop    = 12
	chartBottom = 24 // room for the times
	plotWidth   = chartWidth - chartLeft - chartRight
	plotHeight  = chartHeight - chartTop - chartBottom
)

// chart is a picture of spans, drawn by the part "chart". Its parts have classes
// and no colours: those are the style sheet's.
type chart struct {
	ID     string
	Title  string
	Desc   string // what it shows, in words
	Ticks  []tick // below the spans
	Lines  []tick // across, from the highest on
	Bars   []bar  // of outcomes
	Curves []curve

	Latency bool // it shows that, by Curves
}

// tick is a text at a place: X of a time, Y of a gridline.
type tick struct {
	X, Y int
	Text string
}

// bar is one part of a span's pile.
type bar struct {
	Class               string
	X, Y, Width, Height int
}

// curve is a line through the spans that have a value, with a gap where one has
// none.
type curve struct {
	Class  string
	Points string // of a run of neighbours, as SVG writes them
	Dot    tick   // of a value without neighbours, whose Points are empty
}

// columnOf is where a span's column begins, and how wide it is.
func columnOf(i, n int) (x, width int) {
	x = chartLeft + i*plotWidth/n
	return x, chartLeft + (i+1)*plotWidth/n - x
}

// newChart is a picture of spans with their times.
func newChart(id, title string, s spans) chart {
	c := chart{ID: id, Title: title}
	layout, every := "15:04", 6
	if s.each > time.Hour {
		layout, every = "2 Jan", 7
	}
	for i := len(s.list) - 1; i >= 0; i -= every {
		x, width := columnOf(i, len(s.list))
		c.Ticks = append(c.Ticks, tick{X: x + width/2, Y: chartHeight - 6, Text: s.list[i].From.Format(layout)})
	}
	return c
}

// outcomesChart piles what became of the attempts.
func outcomesChart(id, title string, s spans) chart {
	c := newChart(id, title, s)
	most, sum := 1, span{}
	for _, sp := range s.list {
		most = max(most, sp.Total())
		sum.Add(sp.DeliveryCounts)
	}
	c.Desc = strconv.Itoa(sum.Acknowledged) + " attempts were acknowledged, " + strconv.Itoa(sum.Retrying) +
		" were unsuccessful and are retried, " + strconv.Itoa(sum.Failed) + " failed for good."
	for _, n := range []int{most, 0} {
		c.Lines = append(c.Lines, tick{Y: heightOf(n, most), Text: strconv.Itoa(n)})
	}
	for i, sp := range s.list {
		x, width := columnOf(i, len(s.list))
		below := 0
		for _, part := range []struct {
			class string
			n     int
		}{{"bar-acknowledged", sp.Acknowledged}, {"bar-retrying", sp.Retrying}, {"bar-failed", sp.Failed}} {
			if part.n > 0 {
				top := heightOf(below+part.n, most)
				height := max(heightOf(below, most)-top, 1) // what is there is seen
				c.Bars = append(c.Bars, bar{part.class, x + 1, top, width - 2, height})
			}
			below += part.n
		}
	}
	return c
}

// heightOf is where a value is, of one that is at the top.
func heightOf(n, most int) int { return chartTop + plotHeight - n*plotHeight/most }

// latencyChart draws how long the acknowledged attempts took: half of them, and
// nearly all. Its steps are the classes of latency.
func latencyChart(id, title string, s spans) chart {
	c := newChart(id, title, s)
	c.Latency = true
	c.Desc = "How long the receivers took to acknowledge: half of the attempts (p50, the solid line) and 95% of them (p95, the dashed line) took no longer."
	classes := len(s.list[0].Latency)
	for class := classes - 1; class >= 0; class-- {
		c.Lines = append(c.Lines, tick{Y: heightOf(class+1, classes), Text: classText(class)})
	}
	c.Curves = append(latencyCurves("line-p95", s, 95), latencyCurves("line-p50", s, 50)...)
	return c
}

func latencyCurves(class string, s spans, percent int) (curves []curve) {
	var run []string
	var last tick
	end := func() {
		switch {
		case len(run) > 1:
			curves = append(curves, curve{Class: class, Points: strings.Join(run, " ")})
		case len(run) == 1:
			curves = append(curves, curve{Class: class, Dot: last})
		}
		run = nil
	}
	for i, sp := range s.list {
		at := sp.latencyClass(percent)
		if at < 0 {
			end()
			continue
		}
		x, width := columnOf(i, len(s.list))
		last = tick{X: x + width/2, Y: heightOf(at+1, len(sp.Latency))}
		run = append(run, strconv.Itoa(last.X)+","+strconv.Itoa(last.Y))
	}
	end()
	return curves
}
