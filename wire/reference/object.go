package reference

import (
	"bytes"
	"encoding/json"
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
	text := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			text = append(text, ',')
		}
		for _, part := range []any{m.Key, m.Value} {
			inJSON, err := Marshal(part)
			if err != nil {
				return nil, err
			}
			text = append(append(text, inJSON...), ':')
		}
		text = text[:len(text)-1]
	}
	return append(text, '}'), nil
}

// Get returns a member's value; the zero value: there is none.
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
