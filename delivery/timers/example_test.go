package timers_test

import (
	"fmt"
	"time"

	"teamdata/delivery/timers"
)

func Example() {
	now := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	h := timers.New[string]()
	h.Set("whe_1", now.Add(5*time.Minute))
	h.Set("whe_2", now.Add(1*time.Minute))
	h.SetEarlier("whe_1", now.Add(3*time.Second))

	for h.Len() > 0 {
		now, _ = h.Next() // a program sleeps until then
		for _, id := range h.Expire(now) {
			fmt.Println(now.UTC().Format(time.TimeOnly), id)
		}
	}
	// Output:
	// 12:00:03 whe_1
	// 12:01:00 whe_2
}

func ExampleHeap_Expire() {
	start := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	h := timers.New[int]()
	h.Set(1, start.Add(20*time.Millisecond))
	h.Set(2, start.Add(-time.Hour))
	h.Set(3, start.Add(10*time.Millisecond))
	for _, id := range h.Expire(start.Add(19 * time.Millisecond)) {
		fmt.Println(id)
	}
	fmt.Println(h.Len(), "left")
	// Output:
	// 2
	// 3
	// 1 left
}
