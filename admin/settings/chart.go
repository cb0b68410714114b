package settings

import (
	"fmt"
	"strconv"
	"time"

	"teamdata/store"
)

// chart is a picture of a time series, drawn by the template "chart": its words are
// HTML and its marks SVG in percent of the plot, so that it fits any width. Marks have
// classes and no colours.
type chart struct {
	timeSeries
	ID, Title string
	Desc      string   // what it shows, in words
	Values    []string // beside the grid lines, from the top
	Lines     []string // the grid lines, in percent from the top
	Times     []string // below the bins
	Bins      []bin
	Legend    []legend
	Rows      [][]string // of its table: the numbers of each point, one for each entry of the legend
}

// legend says what marks of a class are.
type legend struct{ Class, Text string }

// bin is one point as a chart shows it.
type bin struct {
	Title    string // its numbers, in words
	X, Width string // in percent
	Marks    []mark
}

// mark is a rectangle, in percent of the plot.
type mark struct {
	Class               string // ok-mark, bad-mark, in-mark, p50-mark, p95-mark or hatch
	X, Y, Width, Height string
}

// percent formats a share of 100 with at most two decimals.
func percent(share float64) string {
	return strconv.FormatFloat(float64(int(share*100+0.5))/100, 'f', -1, 64) + "%"
}

// newChart is a chart with the times of its points and grid lines, and no marks.
func newChart(id, title string, s timeSeries, values []string) chart {
	c := chart{timeSeries: s, ID: id, Title: title, Values: values}
	for i := range values {
		c.Lines = append(c.Lines, percent(100*float64(i)/float64(len(values)-1)))
	}
	for i, p := range s.Points {
		c.Bins = append(c.Bins, bin{X: percent(100 * float64(i) / float64(len(s.Points))), Width: percent(100 / float64(len(s.Points))), Title: s.binTime(p)})
	}
	every := max(1, (len(s.Points)+5)/6)
	for i := 0; i < len(s.Points)-every/2; i += every {
		c.Times = append(c.Times, s.tickTime(s.Points[i]))
	}
	c.Times = append(c.Times, "now")
	return c
}

// tickTime formats the time of a tick.
func (s timeSeries) tickTime(p point) string {
	if s.step > time.Hour {
		return p.From.In(s.zone).Format("2 Jan")
	}
	return p.From.In(s.zone).Format("15:04")
}

// binTime formats the range of a point.
func (s timeSeries) binTime(p point) string {
	from, to := p.From.In(s.zone), p.From.Add(s.step-time.Minute).In(s.zone)
	switch {
	case s.step >= 24*time.Hour:
		return from.Format("2 Jan")
	case s.step > time.Hour:
		return from.Format("2 Jan, 15:04") + " to " + to.Format("15:04")
	}
	return from.Format("15:04") + " to " + to.Format("15:04")
}

// barPosition is the place of a bar in the bin i of n that fills a part of its width.
func barPosition(i, n int, part float64) (x, width string) {
	each := 100 / float64(n)
	return percent((float64(i) + (1-part)/2) * each), percent(part * each)
}

// bar adds a bar to the bin i, which begins at a part of its width; 0 has none.
func (c *chart) bar(i int, class string, from, part float64, n, top int) {
	if n > 0 {
		each, height := 100/float64(len(c.Points)), max(100*float64(n)/float64(top), 1) // a small count is visible too
		c.Bins[i].Marks = append(c.Bins[i].Marks, mark{class, percent((float64(i) + from) * each), percent(100 - height), percent(part * each), percent(height)})
	}
}

// row adds the numbers of the next point to the table, and in words to its bin.
func (c *chart) row(i int, words string, numbers ...int) {
	texts, args := make([]string, len(numbers)), make([]any, len(numbers))
	for n, number := range numbers {
		texts[n] = formatCount(number, false)
		args[n] = texts[n]
	}
	c.Rows = append(c.Rows, texts)
	c.Bins[i].Title += fmt.Sprintf(words, args...)
}

// ticks are the values beside the grid lines up to a top, which is three equal parts.
func ticks(top int) []string {
	return []string{formatCount(top, false), formatCount(top/3*2, false), formatCount(top/3, false), "0"}
}

// roundTop is the lowest value of at least most whose three equal parts are round.
func roundTop(most int) int {
	for scale := 1; ; scale *= 10 {
		for _, step := range []int{1, 2, 3, 5} {
			if step*scale*3 >= most {
				return step * scale * 3
			}
		}
	}
}

// charts are the charts of a page with numbers.
func charts(sp span, s timeSeries) []chart { return []chart{attemptsChart(sp, s), latencyChart(sp, s)} }

// attemptsChart draws how attempts ended, as stacked bars.
func attemptsChart(sp span, s timeSeries) chart {
	most := 1
	for _, p := range s.Points {
		most = max(most, p.Total())
	}
	top, sum := roundTop(most), s.sum()
	c := newChart("attempts", "Attempts", s, ticks(top))
	c.Legend = []legend{{"ok-mark", "Acknowledged"}, {"hatch", "Retrying"}, {"bad-mark", "Failed"}}
	c.Desc = fmt.Sprintf("Attempts in the last %s: %s acknowledged, %s failed and retried, %s failed for good", sp.Since,
		formatCount(sum.Acknowledged, false), formatCount(sum.Retrying, false), formatCount(sum.Failed, false))
	for i, p := range s.Points {
		c.row(i, ": %[1]s acknowledged, %[3]s failed, %[2]s being retried", p.Acknowledged, p.Retrying, p.Failed)
		x, width := barPosition(i, len(s.Points), 0.72)
		below := 0.0
		for _, part := range []struct {
			class string
			n     int
		}{{"ok-mark", p.Acknowledged}, {"hatch", p.Retrying}, {"bad-mark", p.Failed}} {
			if part.n > 0 {
				height := min(max(100*float64(part.n)/float64(top), 1), 100-below) // a small count is visible too
				below += height
				c.Bins[i].Marks = append(c.Bins[i].Marks, mark{part.class, x, percent(100 - below), width, percent(height)})
			}
		}
	}
	return c
}

// latencyChart draws the p50 and the p95 of the acknowledged attempts. Each class of
// latency has the same height.
func latencyChart(sp span, s timeSeries) chart {
	const classes = len(store.LatencyBounds) + 1
	c := newChart("latency", "Latency", s, []string{"15 s", formatBound(5), formatBound(3), formatBound(1), "0"})
	c.Legend = []legend{{"p50-mark", "Half within (p50)"}, {"p95-mark", "95 % within (p95)"}}
	sum := s.sum()
	c.Desc = "Latency in the last " + sp.Since + ": nothing was acknowledged"
	if sum.Acknowledged > 0 {
		c.Desc = "Latency in the last " + sp.Since + ": half " + sum.P50() + ", 95 % " + sum.P95()
	}
	for i, p := range s.Points {
		c.Rows = append(c.Rows, []string{p.P50(), p.P95()})
		if p.Acknowledged == 0 {
			c.Bins[i].Title += ": nothing acknowledged"
			continue
		}
		c.Bins[i].Title += ": half " + p.P50() + ", 95 % " + p.P95()
		low, high := 100*float64(p.latencyClass(50)+1)/float64(classes), 100*float64(p.latencyClass(95)+1)/float64(classes)
		x, width := barPosition(i, len(s.Points), 0.52)
		c.Bins[i].Marks = []mark{
			{"p95-mark", x, percent(100 - high), width, percent(max(high-low, 1))},
			{"p50-mark", x, percent(100 - low), width, "2.4%"},
		}
	}
	return c
}

// Spark measures, in pixels.
const (
	sparkHeight = 18
	sparkStep   = 4
	sparkWidth  = 3
)

// sparkMarks are the parts of one colour of a small picture without words, as one path:
// a list has many pictures, each with dozens of parts.
type sparkMarks struct{ Class, Path string }

func (m *sparkMarks) add(at, y, height int) {
	if height > 0 {
		m.Path += fmt.Sprintf("M%d %dh%dv%dh-%dz", at*sparkStep, y, sparkWidth, height, sparkWidth)
	}
}

// Spark draws the attempts as small bars, of which the highest fills the height.
func (s timeSeries) Spark() (drawn []sparkMarks) {
	most := 1
	for _, p := range s.Points {
		most = max(most, p.Total())
	}
	none, well, bad := sparkMarks{Class: "none"}, sparkMarks{Class: "ok-mark"}, sparkMarks{Class: "bad-mark"}
	for i, p := range s.Points {
		height := (p.Total()*sparkHeight + most - 1) / most
		unsuccessful := (p.Unsuccessful()*sparkHeight + most - 1) / most
		if p.Total() == 0 {
			none.add(i, sparkHeight-1, 1)
		}
		well.add(i, sparkHeight-height+unsuccessful, height-unsuccessful)
		bad.add(i, sparkHeight-height, unsuccessful)
	}
	for _, m := range []sparkMarks{none, well, bad} {
		if m.Path != "" {
			drawn = append(drawn, m)
		}
	}
	return drawn
}
