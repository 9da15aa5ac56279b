package proof

// placeRenders limits the renders for one place. One is enough when the place is right; the others are for
// other places with the same value.
const placeRenders = 4

// Share returns how many renders the proof of each place may take, given the cost of a render for each: one
// for every place while renders are left, then more for the first places. A place whose root costs too much
// gets none.
func Share(costs []int, renders, cost int) []int {
	shares := make([]int, len(costs))
	for range placeRenders {
		for i, one := range costs {
			if renders > 0 && one <= cost {
				shares[i]++
				renders--
				cost -= one
			}
		}
	}
	return shares
}
