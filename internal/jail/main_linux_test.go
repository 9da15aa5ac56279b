package jail

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"testing"
)

// TestMain makes the test binary also the program in a jail.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "probe" {
		os.Exit(probe(os.Args[2]))
	}
	if len(os.Args) > 1 && os.Args[1] == "spin" {
		spin()
	}
	if len(os.Args) > 1 && os.Args[1] == "parent" {
		parent()
	}
	if len(os.Args) > 1 && os.Args[1] == "adopter" {
		os.Exit(adopter())
	}
	os.Exit(m.Run())
}

// parent starts a program that does not end, and does not end itself.
func parent() {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := Command{Program: program, Args: []string{"probe", "ignore the end"}, Input: []byte("\n")}
	child, err := c.Start(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println("started")
	child.Wait()
}

// probe is the program in a jail: it runs one attempt, and prints the result.
func probe(name string) int {
	results, err := Enter()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	argument, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := attempts()[name](argument[:len(argument)-1]); err != nil {
		fmt.Fprintf(results, "refused: %v\n", err)
		return 0
	}
	fmt.Fprintln(results, "done")
	return 0
}
