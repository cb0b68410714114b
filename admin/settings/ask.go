package settings

// question is a page that asks before something is done that can't be undone, or
// that stops something.
type question struct {
	Title  string
	About  string   // what it would be done to; may be empty
	Text   []string // what will happen, a paragraph each
	Button string
	To     string // path of the form
	Back   string // path of the page for those who don't want it
	Danger bool   // it can't be undone
}
