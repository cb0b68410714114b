package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// name reads an object with a name.
func name(in io.Reader, limit int64) (text string, err error) {
	r := New(in, limit)
	err = r.Document(r.Value("name", &text))
	return text, err
}

func TestSizeLimit(t *testing.T) {
	text := `{"name": "O"}` + "\n"
	size := int64(len(text))
	if _, err := name(strings.NewReader(text), size); err != nil {
		t.Errorf("an input of exactly the limit: %v", err)
	}
	_, err := name(strings.NewReader(text), size-1)
	equal(t, "one byte more", fmt.Sprint(err), "the input is larger than 13 bytes")
	_, err = name(endless(" "), 1<<18)
	equal(t, "without end", fmt.Sprint(err), "the input is larger than 262144 bytes")
	_, err = name(endless("\n"), 1<<18)
	equal(t, "lines without end", fmt.Sprint(err), "the input is larger than 262144 bytes")
}

// endless repeats a text.
type endless string

func (e endless) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte(e), len(p)/len(e)+1)), nil
}

func TestValueLimit(t *testing.T) {
	const limit = 64 << 30
	longest := strings.Repeat("x", maxValue-len(": \"\"\n"))
	if _, err := name(strings.NewReader(`{"name": "`+longest+"\"\n}"), limit); err != nil {
		t.Error(err)
	}
	_, err := name(io.MultiReader(strings.NewReader(`{"name": "`), endless("x")), limit)
	equal(t, "a text without end", fmt.Sprint(err), "name: is longer than 1048576 bytes, which a value may have")
	_, err = name(io.MultiReader(strings.NewReader(`{"`), endless("x")), limit)
	equal(t, "a field's name without end", fmt.Sprint(err), "is longer than 1048576 bytes, which a value may have")
	_, err = name(io.MultiReader(strings.NewReader(`{"name": "" }`), endless("  \n ")), 1<<18)
	equal(t, "space without end after the end", fmt.Sprint(err), "the input is larger than 262144 bytes")
	var raw []byte
	r := New(io.MultiReader(strings.NewReader(`{"raw": [`), endless("1,\n")), limit)
	err = r.Document(r.Value("raw", &raw))
	equal(t, "a raw value without end", fmt.Sprint(err), "raw: is longer than 1048576 bytes, which a value may have")
}

func TestManyValuesMayBeLongerThanOne(t *testing.T) {
	text := `{"texts": [` + strings.Repeat(`"`+strings.Repeat("x", 1000)+`",`, 3000) + `""]}`
	var texts []string
	r := New(strings.NewReader(text), 4<<20)
	if err := r.Document(r.Value("texts", &texts)); err != nil {
		t.Fatal(err)
	}
	equal(t, "texts", len(texts), 3001)
}

func TestFaultsOfTheInputComeThrough(t *testing.T) {
	fault := errors.New("the disk is gone")
	for _, before := range []string{"", "{", `{"name": "`, "{}", "{}\n"} {
		_, err := name(io.MultiReader(strings.NewReader(before), iotest.ErrReader(fault)), 100)
		if !errors.Is(err, fault) {
			t.Errorf("after %q: %v", before, err)
		}
	}
}

// TestOneLineOfAnyLength has characters of several bytes lie across every
// boundary that the reading has.
func TestOneLineOfAnyLength(t *testing.T) {
	for shift := range 8 {
		want := strings.Repeat("x", shift) + strings.Repeat("🚀é", 25_000) // over two windows
		text := fmt.Sprintf(`{"name": "%s"}`, want)
		for _, in := range []io.Reader{
			strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := name(in, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "the name came through", got == want, true)
		}
	}
}

func TestPositionsInALongInput(t *testing.T) {
	const limit = 1 << 20
	_, err := name(strings.NewReader(strings.Repeat("\n", 70_000)+"  x"), limit)
	equal(t, "after many lines", fmt.Sprint(err), "line 70001, column 3: invalid character 'x' looking for beginning of value")
	_, err = name(strings.NewReader("{\n\n\"a\n\nb"), limit)
	equal(t, "in a text with blank lines", fmt.Sprint(err), `line 3, column 1: invalid character '\n' in string literal`)
	_, err = name(strings.NewReader(`{"`+strings.Repeat("é", 70_000)+"\xff"), limit)
	equal(t, "in a long line", fmt.Sprint(err), "line 1, column 140003: is not valid UTF-8")
	_, err = name(strings.NewReader("{}"+strings.Repeat(" ", 200_000)+"\n x"), limit)
	equal(t, "after the end", fmt.Sprint(err), "line 2, column 2: there is more after the end")
}
