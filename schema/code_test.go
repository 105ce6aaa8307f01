package schema

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestReadmeHasCodes: the README has the table of warnings, in an order of its own.
func TestReadmeHasCodes(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range codes {
		if row := fmt.Sprintf("\n| `%s` | %s | %s |\n", c.code, c.means, c.use); !strings.Contains(string(readme), row) {
			t.Errorf("the README lacks%s", row)
		}
	}
}
