package reference

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Object is a JSON object that keeps its order.
type Object[T any] []Member[T]

// Member is a member of an Object.
type Member[T any] struct {
	Key   string
	Value T
}

// UnmarshalJSON reads an object.
func (o *Object[T]) UnmarshalJSON(text []byte) error {
	in := json.NewDecoder(bytes.NewReader(text))
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return &json.UnmarshalTypeError{Value: "no object"}
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return err
		}
		next := Member[T]{Key: key.(string)}
		if err := in.Decode(&next.Value); err != nil {
			return err
		}
		*o = append(*o, next)
	}
	return nil
}

// MarshalJSON writes the object in its order.
func (o Object[T]) MarshalJSON() ([]byte, error) {
	members := make([][]byte, len(o))
	for i, m := range o {
		key, _ := Marshal(m.Key) // a text
		value, err := Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		members[i] = slices.Concat(key, []byte{':'}, value)
	}
	return slices.Concat([]byte{'{'}, bytes.Join(members, []byte{','}), []byte{'}'}), nil
}

// Get returns a member's value; the zero value: none.
func (o Object[T]) Get(key string) (value T) {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return value
}

// Marshal is json.Marshal, and leaves < > & as they are.
func Marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	in := json.NewEncoder(&b)
	in.SetEscapeHTML(false)
	err := in.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}
