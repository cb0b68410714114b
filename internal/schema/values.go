package schema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// rational is a number, exactly; nil: the value is none.
func rational(value any) *big.Rat {
	number, ok := value.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(string(number)) // its exponent is bounded, see checkNumber
	return r
}

// canonical is a text that equal values have in common: 1, 1.0 and 10e-1 are equal.
func canonical(value any) string { return string(appendCanonical(nil, value)) }

func appendCanonical(dst []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return strconv.AppendQuote(dst, v)
	case json.Number:
		digits, exponent := decimal(string(v))
		return strconv.AppendInt(append(append(dst, digits...), 'e'), int64(exponent), 10)
	case []any:
		dst = append(dst, '[')
		for _, item := range v {
			dst = append(appendCanonical(dst, item), ',')
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			dst = append(strconv.AppendQuote(dst, name), ':')
			dst = append(appendCanonical(dst, v[name]), ',')
		}
		return append(dst, '}')
	}
	return append(dst, display(value)...)
}

// decimal is a number as a whole one, with a sign and without zeros at either end,
// and the power of ten to multiply it by.
func decimal(number string) (digits string, exponent int) {
	mantissa, power, _ := strings.Cut(strings.ToLower(number), "e")
	exponent, _ = strconv.Atoi(power) // of a few digits, see checkNumber
	whole, fraction, _ := strings.Cut(mantissa, ".")
	whole, negative := strings.CutPrefix(whole, "-")
	digits = strings.TrimLeft(whole+fraction, "0")
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	switch {
	case trimmed == "":
		return "0", 0
	case negative:
		trimmed = "-" + trimmed
	}
	return trimmed, exponent
}

func isInteger(number json.Number) bool {
	_, exponent := decimal(string(number))
	return exponent >= 0
}
