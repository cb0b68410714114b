package canonical

import (
	"strconv"
	"strings"
)

// Decimal returns a number of JSON as a whole one, with a sign and without zeros at
// either end, and the power of ten to multiply it by. It is not ok if its exponent has
// more than three digits: exact arithmetic with 1e999999999 would take all memory.
func Decimal(number string) (digits string, exponent int, ok bool) {
	mantissa, power, _ := strings.Cut(strings.ToLower(number), "e")
	if len(strings.TrimLeft(power, "+-0")) > 3 {
		return "", 0, false
	}
	exponent, _ = strconv.Atoi(power) // there may be none
	whole, fraction, _ := strings.Cut(mantissa, ".")
	whole, negative := strings.CutPrefix(whole, "-")
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	switch {
	case trimmed == "":
		return "0", 0, true
	case negative:
		trimmed = "-" + trimmed
	}
	return trimmed, exponent, true
}

// Integer writes a number of JSON that is whole without fraction and exponent, such as
// 20 for 2.0e1: JSON has no integers, and programs write them in either way.
func Integer(number string) (text string, ok bool) {
	digits, exponent, ok := Decimal(number)
	if !ok || exponent < 0 {
		return "", false
	}
	return digits + strings.Repeat("0", exponent), true
}
