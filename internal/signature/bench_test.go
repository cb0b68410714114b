package signature

import (
	"strconv"
	"testing"
)

func BenchmarkSign(b *testing.B) {
	secret := parse(b, newSecret())
	for _, size := range []int{200, 64 << 10} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			body, dst := make([]byte, size), make([]byte, 0, 64)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				Sign(dst, "whd_01K60865992206906030338374", 1790000000, body, secret)
			}
		})
	}
}

func BenchmarkParseAndSign(b *testing.B) {
	text, body := newSecret(), make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		Sign(nil, "whd_01K60865992206906030338374", 1790000000, body, parse(b, text))
	}
}
