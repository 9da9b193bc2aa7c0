// The node that a cluster's programs run on: namespaces of its own, a supervisor as its first process, ports of
// 127.0.0.1 that lead into it, and the certificates.
package main

import (
	"fmt"
	"os"
)

const usage = `usage:
  cluster-node start CONFIGURATION   starts a node as JSON of the file says, and returns at once
  cluster-node init CONFIGURATION    what start runs as the first process of the new namespaces
  cluster-node certify FOLDER        writes the certificates that JSON on the standard input asks for
`

func main() {
	if len(os.Args) != 3 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	commands := map[string]func(string) error{"start": start, "init": initialise, "certify": certify}
	command, known := commands[os.Args[1]]
	if !known {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := command(os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "cluster-node %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
