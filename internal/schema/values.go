package schema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"teamdata/internal/canonical"
)

// rational is a number, exactly; nil: the value is none.
func rational(value any) *big.Rat {
	number, ok := value.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(string(number)) // its exponent is bounded, see checkValue
	return r
}

// canonicalText is a text that equal values have in common: 1, 1.0 and 10e-1 are equal.
func canonicalText(value any) string { return string(appendCanonical(nil, value)) }

func appendCanonical(dst []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return strconv.AppendQuote(dst, v)
	case json.Number:
		digits, exponent, _ := canonical.Decimal(string(v))
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

func isInteger(number json.Number) bool {
	_, exponent, _ := canonical.Decimal(string(number)) // ok, see checkValue
	return exponent >= 0
}
