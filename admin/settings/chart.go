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

// chart is a picture of a time series, drawn by the template "chart". Its parts
// have classes and no colours: those are in the style sheet.
type chart struct {
	timeSeries
	ID     string
	Title  string
	Desc   string // what it shows, in words
	Ticks  []tick // times, below the points
	Lines  []tick // grid lines, from the top
	Bars   []bar  // how attempts ended
	Curves []curve

	Latency bool // the chart shows latency, as Curves
}

// tick is a text at the X of a time or the Y of a grid line.
type tick struct {
	X, Y int
	Text string
}

// bar is one part of a stacked bar.
type bar struct {
	Class               string
	X, Y, Width, Height int
}

// curve is a line through neighbouring points that have a value.
type curve struct {
	Class  string
	Points string // in the syntax of SVG
	Dot    tick   // a value without neighbours, when Points is empty
}

// columnOf returns the start and the width of a point's column.
func columnOf(i, n int) (x, width int) {
	x = chartLeft + i*plotWidth/n
	return x, chartLeft + (i+1)*plotWidth/n - x
}

// newChart is a chart with the times of its points, and nothing drawn yet.
func newChart(id, title string, s timeSeries) chart {
	c := chart{timeSeries: s, ID: id, Title: title}
	layout, every := "15:04", 6
	if s.step > time.Hour {
		layout, every = "2 Jan", 7
	}
	for i := len(s.Points) - 1; i >= 0; i -= every {
		x, width := columnOf(i, len(s.Points))
		c.Ticks = append(c.Ticks, tick{X: x + width/2, Y: chartHeight - 6, Text: s.Points[i].From.Format(layout)})
	}
	return c
}

// outcomesChart draws how attempts ended, as stacked bars.
func outcomesChart(id, title string, s timeSeries) chart {
	c := newChart(id, title, s)
	most, sum := 1, point{}
	for _, p := range s.Points {
		most = max(most, p.Total())
		sum.Add(p.DeliveryCounts)
	}
	c.Desc = strconv.Itoa(sum.Acknowledged) + " attempts were acknowledged, " + strconv.Itoa(sum.Retrying) +
		" were unsuccessful and are retried, " + strconv.Itoa(sum.Failed) + " failed for good."
	for _, n := range []int{most, 0} {
		c.Lines = append(c.Lines, tick{Y: heightOf(n, most), Text: strconv.Itoa(n)})
	}
	for i, p := range s.Points {
		x, width := columnOf(i, len(s.Points))
		below := 0
		for _, part := range []struct {
			class string
			n     int
		}{{"bar-acknowledged", p.Acknowledged}, {"bar-retrying", p.Retrying}, {"bar-failed", p.Failed}} {
			if part.n > 0 {
				top := heightOf(below+part.n, most)
				height := max(heightOf(below, most)-top, 1) // a small count is visible too
				c.Bars = append(c.Bars, bar{part.class, x + 1, top, width - 2, height})
			}
			below += part.n
		}
	}
	return c
}

// heightOf is the Y of a value, where most is at the top.
func heightOf(n, most int) int { return chartTop + plotHeight - n*plotHeight/most }

// latencyChart draws the p50 and the p95 of the acknowledged attempts. Its grid
// lines are the classes of latency.
func latencyChart(id, title string, s timeSeries) chart {
	c := newChart(id, title, s)
	c.Latency = true
	c.Desc = "How long the receivers took to acknowledge: half of the attempts (p50, the solid line) and 95% of them (p95, the dashed line) took no longer."
	classes := len(s.Points[0].Latency)
	for class := classes - 1; class >= 0; class-- {
		c.Lines = append(c.Lines, tick{Y: heightOf(class+1, classes), Text: formatClass(class)})
	}
	c.Curves = append(latencyCurves("line-p95", s, 95), latencyCurves("line-p50", s, 50)...)
	return c
}

func latencyCurves(class string, s timeSeries, percent int) (curves []curve) {
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
	for i, p := range s.Points {
		at := p.latencyClass(percent)
		if at < 0 {
			end()
			continue
		}
		x, width := columnOf(i, len(s.Points))
		last = tick{X: x + width/2, Y: heightOf(at+1, len(p.Latency))}
		run = append(run, strconv.Itoa(last.X)+","+strconv.Itoa(last.Y))
	}
	end()
	return curves
}
