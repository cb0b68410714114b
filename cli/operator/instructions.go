package operator

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/spf13/cobra"
)

func instructionsCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "instructions", "What an org's assistant is told")
	n.add(verb{
		use: "show", short: "Print the instructions", args: cobra.NoArgs,
		example: "instructions show --org org_acme\ninstructions show > instructions.txt",
		run: func(s *session, _ []string) error {
			a, text, err := s.instructions()
			switch {
			case err != nil:
				return err
			case s.json:
				return s.out.json(a.body)
			case text == "":
				s.note("no instructions yet; set them with: teamdata instructions set TEXT")
				return nil
			}
			return s.out.text(text)
		},
	})
	instructionsSet(n)
	n.add(verb{
		use: "edit", short: "Edit the instructions in $EDITOR", args: cobra.NoArgs,
		long: `Edit opens the instructions in the program that VISUAL or EDITOR names, else in vi,
and sets what was saved. If somebody else changed them meanwhile, theirs stay,
and your text is kept in a file.`,
		example: "instructions edit --org org_acme",
		run:     func(s *session, _ []string) error { return s.edit() },
	})
	n.add(verb{
		use: "clear", short: "Remove the instructions", args: cobra.NoArgs,
		example: "instructions clear --yes",
		confirm: func([]string) string { return "This removes the instructions" },
		run: func(s *session, _ []string) error {
			if _, err := s.do(http.MethodDelete, s.path("instructions"), nil, nil); err != nil {
				return err
			}
			return s.said("instructions are removed")
		},
	})
	return n.Command
}

func instructionsSet(n *noun) {
	var file string
	f := n.add(verb{
		use: "set TEXT | --file FILE", short: "Replace the instructions", args: cobra.MaximumNArgs(1),
		long:    "Set replaces the instructions, by an argument or by a file's text as it is.\nEndpoints that select it get the event assistant.instructionsChanged.",
		example: "instructions set 'Answer in English.'\ninstructions set --file instructions.txt\ninstructions set --file - < instructions.txt",
		run: func(s *session, args []string) error {
			switch {
			case (len(args) == 1) == (file != ""):
				return errors.New("give the instructions as an argument, or in a file with --file")
			case file == "":
				return s.setInstructions(args[0], "")
			}
			text, err := readInput(s.cmd, "file", file)
			if err != nil {
				return err
			}
			return s.setInstructions(string(text), "")
		},
	})
	f.StringVar(&file, "file", "", "a `file` with the text; - is the standard input")
}

// instructions are the org's, empty when there are none.
func (s *session) instructions() (a answer, text string, err error) {
	if a, err = s.do(http.MethodGet, s.path("instructions"), nil, nil); err != nil {
		return a, "", err
	}
	var body struct{ Instructions string }
	if err := json.Unmarshal(a.body, &body); err != nil {
		return a, "", errForm(err)
	}
	return a, body.Instructions, nil
}

// setInstructions replaces the instructions: those with a tag, unless it is
// empty.
func (s *session) setInstructions(text, tag string) error {
	var header http.Header
	if tag != "" {
		header = http.Header{"If-Match": {tag}}
	}
	a, err := s.do(http.MethodPut, s.path("instructions"), object{"instructions": text}, header)
	if err != nil {
		return err
	}
	if s.json {
		return s.out.json(a.body)
	}
	return s.said("instructions are set")
}
