package parallel_test

import (
	"testing"

	"github.com/preadmit/preadmit/scanner/parallel"
)

func TestOnce(t *testing.T) {
	begin, end, got := make(chan bool), make(chan bool), make(chan int)
	times := 0
	once := parallel.NewOnce(func() int {
		begin <- true
		<-end
		times++
		return 7
	})
	state := func() [2]bool { return [2]bool{once.IsNew(), once.IsUnderWay()} }
	if state() != [2]bool{true, false} {
		t.Errorf("before: new, under way: %v", state())
	}
	for range 2 {
		go func() { got <- once.Get() }()
	}
	<-begin
	if state() != [2]bool{false, true} {
		t.Errorf("meanwhile: new, under way: %v", state())
	}
	end <- true
	if a, b := <-got, <-got; a != 7 || b != 7 || times != 1 {
		t.Errorf("got %d and %d, computed %d times", a, b, times)
	}
	if state() != [2]bool{false, false} {
		t.Errorf("after: new, under way: %v", state())
	}
}
