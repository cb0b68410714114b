package schema

import "sync"

// maxCached bounds the memory of a Cache, in bytes of the schemas' texts.
const maxCached = 1 << 20

// Cache keeps compiled schemas by their text. Its zero value is ready to use.
type Cache struct {
	mu       sync.Mutex
	compiled map[string]*Schema
	size     int // of the texts, in bytes
}

// Compile is the function Compile, and keeps its result for the next call.
func (c *Cache) Compile(text []byte) (*Schema, error) {
	if s := c.get(text); s != nil {
		return s, nil
	}
	s, err := Compile(text)
	if err != nil {
		return nil, err
	}
	c.put(text, s)
	return s, nil
}

func (c *Cache) get(text []byte) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compiled[string(text)]
}

// put makes room by dropping everything: what is in use soon returns.
func (c *Cache) put(text []byte, s *Schema) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || c.size+len(text) > maxCached {
		c.compiled, c.size = make(map[string]*Schema), 0
	}
	c.compiled[string(text)] = s
	c.size += len(text)
}
