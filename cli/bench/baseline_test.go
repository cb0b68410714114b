package bench

import "testing"

// The ratio is meant to tell what teamdata does beyond answering, so the baseline
// and the server answer about the same number of bytes.
func TestBaselineAnswersAsMuch(t *testing.T) {
	s := beginSession(t, tiny(t))
	d, err := s.deploy(t.Context(), "accept", 1, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, _, err := s.load(t.Context(), d.target, 1, d.org.test(0))
	if err != nil {
		t.Fatal(err)
	}
	bare, _, err := s.loadHandler(t.Context(), testAnswerBytes, 1, d.org.test(0))
	if err != nil {
		t.Fatal(err)
	}
	if n := ours[0].length - bare[0].length; n > 8 || n < -8 {
		t.Errorf("the server answers %d bytes, the baseline %d", ours[0].length, bare[0].length)
	}
}
