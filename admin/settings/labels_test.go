package settings

import (
	"io/fs"
	"strings"
	"testing"
)

// Each label is that of a field in some form.
func TestLabels(t *testing.T) {
	var forms strings.Builder
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := templateFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		forms.Write(text)
	}
	for field, label := range labels {
		if !strings.Contains(forms.String(), label) || !strings.Contains(forms.String(), ` id="`+field+`"`) {
			t.Errorf("no form has the field %s with the label %s", field, label)
		}
	}
	if labelOf("url") != "URL" || labelOf("unheardOf") != "unheardOf" {
		t.Errorf("url is %s, unheardOf is %s", labelOf("url"), labelOf("unheardOf"))
	}
}
