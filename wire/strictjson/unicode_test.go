package strictjson

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestHalvesOfPairs has them lie across every boundary that the reading has.
func TestHalvesOfPairs(t *testing.T) {
	for text, column := range map[string]int{
		`\ud83d\ude80`: 0, `\uD83D\uDE80x`: 0, `\\ud83d`: 0, `\n\u00e9`: 0, `\ud7ff\ue000`: 0,
		`\ud83d`: 1, `\ude80`: 1, `\ud83dx`: 1, `\ud83d\n`: 1, `\ud83d\\`: 1, `x\ud83d\u00e9`: 2, `\ud83d\ude80\ude80`: 13, `\\\udbff\ud83d\ude80`: 3,
	} {
		for shift := range 8 {
			before := strings.Repeat("é", windowSize/2-8) + strings.Repeat("x", shift)
			want := fmt.Sprintf("line 2, column %d: is half of a surrogate pair", len(`"name":"`+before)+column)
			if column == 0 {
				want = "<nil>"
			}
			whole := "{\n" + `"name":"` + before + text + `"}`
			_, err := name(strings.NewReader(whole), 1<<20)
			equal(t, text, fmt.Sprint(err), want)
			far := windowSize - 64 // from here on, where a window ends, byte by byte
			_, err = name(io.MultiReader(strings.NewReader(whole[:far]), iotest.OneByteReader(strings.NewReader(whole[far:]))), 1<<20)
			equal(t, text+" byte by byte", fmt.Sprint(err), want)
		}
	}
}

// The names of an object in a raw value are there once, however they are written.
func TestNamesInRawValues(t *testing.T) {
	deep := strings.Repeat(`{"n":`, 60)
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":"b"}]}`:                    "<nil>",
		`{"a":"a","b":"a\"b:","c": "\\"}`:                                "<nil>",
		`[{"a" : 1 , "b":[]}, "a", {}]`:                                  "<nil>",
		`"{\"a\":1,\"a\":2}"`:                                            "<nil>",
		`{"a":{"b":{"c":1,"d":2}},"b":{"c":1},"c":1,"d":[1,"a"]}`:        "<nil>",
		`{"a":1,"b":{},"a":2}`:                                           "raw.a: is given twice",
		`{"x":{"a":[{}],"a" :2}}`:                                        "raw.x.a: is given twice",
		`{"a":1,"\u0061":2}`:                                             "raw.a: is given twice",
		`[7,{"x/~y":[{"1":0,"1":0}]}]`:                                   `raw[1]."x/~y"[0]."1": is given twice`,
		deep + `{"x":1,"y":"` + strings.Repeat("y", 10_000) + `","x":3}`: "raw" + strings.Repeat(".n", 60) + ".x: is given twice",
	} {
		_, err := parse(`{"raw":` + text + `}`)
		equal(t, text, fmt.Sprint(err), want)
	}
}
