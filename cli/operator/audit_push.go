package operator

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
)

// Bounds of a batch. A body may have 8 MiB.
const (
	maxBatch      = 1000
	maxBatchBytes = 7 << 20
	maxLine       = 1 << 20
)

// batch is entries that go in one request.
type batch struct {
	entries []json.RawMessage
	lines   []int // of the file, of each entry
	bytes   int
}

func (b *batch) add(entry []byte, line int) {
	b.entries = append(b.entries, json.RawMessage(append([]byte{}, entry...)))
	b.lines = append(b.lines, line)
	b.bytes += len(entry)
}

// hasRoom tells whether an entry may still come in.
func (b *batch) hasRoom(entry []byte) bool {
	return len(b.entries) < maxBatch && (b.bytes+len(entry) <= maxBatchBytes || len(b.entries) == 0)
}

// pushing is a file of entries on its way.
type pushing struct {
	*session
	file    string
	batches int
	added   int
}

// push adds all entries of a file.
func (s *session) push(file string) error {
	in, err := openInput(s.cmd, "file", file)
	if err != nil {
		return err
	}
	defer in.Close()
	p := &pushing{session: s, file: nameOf(file)}
	err = p.all(in)
	p.progress("")
	if err != nil {
		if p.added > 0 {
			return fmt.Errorf("%w; the %d entries before are added", err, p.added)
		}
		return err
	}
	if p.added == 0 {
		return errNoEntries
	}
	return s.said("added %d audit entries", p.added)
}

func (p *pushing) all(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	b := &batch{}
	number := 0
	for lines.Scan() {
		number++
		entry := lines.Bytes()
		switch {
		case len(entry) == 0:
			continue
		case !json.Valid(entry):
			return fmt.Errorf("%s line %d: is not JSON; an entry is one object a line", p.file, number)
		case !b.hasRoom(entry):
			if err := p.send(b); err != nil {
				return err
			}
			b = &batch{}
		}
		b.add(entry, number)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s line %d: is longer than %d bytes; an entry is one object a line", p.file, number+1, maxLine)
	case err != nil:
		return fmt.Errorf("%s: %w", p.file, err)
	}
	return p.send(b)
}

// send adds a batch.
func (p *pushing) send(b *batch) error {
	if len(b.entries) == 0 {
		return nil
	}
	p.batches++
	var header http.Header
	if p.idempotencyKey != "" {
		header = http.Header{"Idempotency-Key": {fmt.Sprintf("%s-%d", p.idempotencyKey, p.batches)}}
	}
	a, err := p.do(http.MethodPost, p.path("audit-log", "batch"), object{"entries": b.entries}, header)
	if err != nil {
		return p.placed(err, b)
	}
	p.added += len(b.entries)
	p.progress(fmt.Sprintf("%d entries", p.added))
	return p.print(a)
}

// progress writes a line on the terminal anew.
func (p *pushing) progress(text string) {
	if to := p.cmd.ErrOrStderr(); p.Width(to) > 0 {
		fmt.Fprint(to, "\r\033[K"+text)
	}
}

// print prints the ids, where they were asked for.
func (p *pushing) print(a answer) error {
	if p.json {
		return p.out.json(a.body)
	}
	var answered struct{ IDs []string }
	if err := json.Unmarshal(a.body, &answered); err != nil {
		return errForm(err)
	}
	if !p.quiet {
		return nil
	}
	for _, id := range answered.IDs {
		if err := p.out.line(plain(id)); err != nil {
			return err
		}
	}
	return nil
}

var entryPlace = regexp.MustCompile(`^entries\[(\d+)\]\.?`)

// placed names the line of the file in an error about an entry.
func (p *pushing) placed(err error, b *batch) error {
	var e *apiError
	if !errors.As(err, &e) {
		return err
	}
	found := entryPlace.FindStringSubmatch(e.message)
	if found == nil {
		return err
	}
	i, numberErr := strconv.Atoi(found[1])
	if numberErr != nil || i >= len(b.lines) {
		return err
	}
	return fmt.Errorf("%s line %d: %s", p.file, b.lines[i], plain(e.message[len(found[0]):]))
}
