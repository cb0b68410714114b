package wheel_test

import (
	"fmt"
	"time"

	"teamdata/delivery/wheel"
)

func Example() {
	now := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	w := wheel.New[string](now)
	w.Set("whe_1", now.Add(5*time.Minute))
	w.Set("whe_2", now.Add(1*time.Minute))
	w.SetEarlier("whe_1", now.Add(3*time.Second))

	for w.Len() > 0 {
		now, _ = w.Next() // a program sleeps until then
		w.Expire(now, func(id string) {
			fmt.Println(now.UTC().Format(time.TimeOnly), id)
		})
	}
	// Output:
	// 12:00:03 whe_1
	// 12:01:00 whe_2
}

func ExampleWheel_Expire() {
	start := time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)
	w := wheel.New[int](start)
	w.Set(1, start.Add(20*time.Millisecond))
	w.Set(2, start.Add(-time.Hour))
	w.Set(3, start.Add(10*time.Millisecond))
	w.Expire(start.Add(19*time.Millisecond), func(id int) { fmt.Println(id) })
	fmt.Println(w.Len(), "left")
	// Output:
	// 2
	// 3
	// 1 left
}
