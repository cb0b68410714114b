package canonical

import "testing"

func TestInteger(t *testing.T) {
	for number, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "0e7": "0", "7": "7", "-7": "-7", "100": "100", "2.0": "2", "-2.50e1": "-25", "0.5e+1": "5",
		"2.0E1": "20", "1e3": "1000", "100e-2": "1", "99999999999999999999": "99999999999999999999", "1e0000": "1",
		"2.5": "", "1e-1": "", "-0.1": "", "1e999999999": "", "1e-999999999": "", "1e99999999999999999999": "",
	} {
		if got, ok := Integer(number); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", number, got, ok)
		}
	}
}
