package storetest

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"teamdata/store"
)

var someTime = time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)

// Values are what the fields of a sample are set to.
type Values struct {
	Text string
	Time time.Time
	// Most gives every field the same text and time and the greatest number of
	// its type, and lists an empty item. Otherwise no two fields are alike.
	Most bool
}

// Sample is a T in which every field is set, and every field of what is in it: a
// new field needs no line here.
func Sample[T any](of Values) (sample T) {
	FillSample(&sample, of)
	return sample
}

// FillSample makes a sample of what a pointer leads to.
func FillSample(sample any, of Values) { (&filler{Values: of}).fill(reflect.ValueOf(sample).Elem()) }

// filler sets fields; n counts them.
type filler struct {
	Values
	n int
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(f.time()))
	case v.Type() == reflect.TypeFor[store.DeliveryState]() && !f.Most:
		v.Set(reflect.ValueOf(store.StateRetrying))
	case v.Kind() == reflect.String:
		v.SetString(f.text())
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(int64(f.number(math.MaxInt)))
	case v.CanUint():
		v.SetUint(f.number(math.MaxUint64 >> (64 - v.Type().Bits())))
	default:
		f.fillAll(v)
	}
}

// fillAll sets what v is made of.
func (f *filler) fillAll(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[[]byte]():
		v.SetBytes(append([]byte(nil), strings.Repeat(f.text(), f.times())...)) // nil, if it is empty
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() { // others are what keys say
				f.fill(v.Field(i))
			}
		}
		if answer, ok := v.Addr().Interface().(*store.Answer); ok {
			answer.Kept = nil // which records hold in place of the body
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		if !f.Most {
			f.fill(v.Index(1))
		}
	case v.Kind() == reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key)
		f.fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
		v.SetMapIndex(reflect.Zero(key.Type()), value)
	}
}

func (f *filler) text() string {
	if f.Most {
		return f.Text
	}
	return fmt.Sprint(f.Text, f.n)
}

// times is how often bytes repeat a text: some are long.
func (f *filler) times() int {
	if f.Most {
		return 100
	}
	return 1
}

func (f *filler) time() time.Time {
	if f.Most {
		return f.Time
	}
	return f.Time.Add(time.Duration(f.n) * time.Millisecond)
}

func (f *filler) number(most uint64) uint64 {
	if f.Most {
		return most
	}
	return uint64(f.n) & most
}
