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
	c.mu.Lock()
	s := c.compiled[string(text)]
	c.mu.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := Compile(text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compiled == nil || c.size+len(text) > maxCached { // what is in use soon returns
		c.compiled, c.size = make(map[string]*Schema), 0
	}
	c.compiled[string(text)] = s
	c.size += len(text)
	return s, nil
}
