package engine

import (
	"math"
	"strings"
)

// growth is how many bytes the results of functions may have in addition to their arguments, given the size of
// the arguments.
var growth = map[string]func(size int, args []any) int{
	"repeat":  func(_ int, args []any) int { return times(number(args, 0), len(text(args, 1))) },
	"indent":  indented,
	"nindent": indented,
	"wrap":    func(size int, _ []any) int { return size },
	"wrapWith": func(_ int, args []any) int {
		return times(len(text(args, 2))+1, len(text(args, 1))+1)
	},
	"replace":                    func(_ int, args []any) int { return replaced(text(args, 2), text(args, 0), text(args, 1)) },
	"regexReplaceAll":            replacedByPattern,
	"mustRegexReplaceAll":        replacedByPattern,
	"regexReplaceAllLiteral":     replacedByPattern,
	"mustRegexReplaceAllLiteral": replacedByPattern,
	"join":                       func(size int, args []any) int { return times(len(text(args, 0)), size/8) },
	"until":                      func(_ int, args []any) int { return counted(0, number(args, 0), 1) },
	"untilStep":                  func(_ int, args []any) int { return counted(number(args, 0), number(args, 1), number(args, 2)) },
	"seq":                        sequence,
	"printf":                     formatted,
	"split":                      func(size int, _ []any) int { return times(size, 50) },
	"splitList":                  func(size int, _ []any) int { return times(size, 16) },
	"regexSplit":                 func(size int, _ []any) int { return times(size, 16) },
	"regexFindAll":               func(size int, _ []any) int { return times(size, 16) },
	"derivePassword":             func(int, []any) int { return 16 << 20 }, // scrypt takes 0.2 s
	"toPrettyJson":               func(size int, _ []any) int { return times(size, 4) },
	"genPrivateKey":              keyed,
	"genCA":                      keyed,
	"genCAWithKey":               keyed,
	"genSelfSignedCert":          keyed,
	"genSelfSignedCertWithKey":   keyed,
	"genSignedCert":              keyed,
	"genSignedCertWithKey":       keyed,
}

// keyed returns the cost of making a key or certificate: reading as many bytes takes as long. No chart makes
// thousands.
func keyed(int, []any) int { return 32 << 10 }

func number(args []any, i int) int {
	n, _ := args[i].(int)
	return n
}

func text(args []any, i int) string {
	s, _ := args[i].(string)
	return s
}

// times returns a product, at most math.MaxInt32.
func times(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > math.MaxInt32 || b > math.MaxInt32 {
		return math.MaxInt32
	}
	return min(a*b, math.MaxInt32)
}

func indented(_ int, args []any) int {
	return times(number(args, 0), 1+strings.Count(text(args, 1), "\n"))
}

func replaced(src, old, with string) int {
	return times(strings.Count(src, old), len(with))
}

// replacedByPattern estimates the matches of a pattern by the length of the text. The replacement may contain
// a match several times: `$0$0`.
func replacedByPattern(_ int, args []any) int {
	src, with := len(text(args, 1)), text(args, 2)
	return min(times(src+1, len(with))+times(src, 1+strings.Count(with, "$")), math.MaxInt32)
}

// counted returns the size of the numbers from start to stop.
func counted(start, stop, step int) int {
	const far = 1 << 40
	if start > far || start < -far || stop > far || stop < -far || step > far || step < -far {
		return math.MaxInt32
	}
	if step == 0 {
		step = 1
	}
	return times(max(stop-start, start-stop)/max(step, -step), 16)
}

func sequence(_ int, args []any) int {
	numbers, _ := args[0].([]int)
	switch len(numbers) {
	case 1:
		return counted(1, numbers[0], 1)
	case 2:
		return counted(numbers[0], numbers[1], 1)
	case 3:
		return counted(numbers[0], numbers[2], numbers[1])
	}
	return 0
}

// maxWidth is the largest width and precision that fmt accepts.
const maxWidth = 1_000_000

// formatted estimates the size of a result of printf: the widths in the format or the arguments, and how often
// it may write an argument.
func formatted(size int, args []any) int {
	format := text(args, 0)
	total, digits := 0, 0
	for i := range len(format) {
		switch c := format[i]; {
		case c >= '0' && c <= '9':
			digits = min(digits*10+int(c-'0'), maxWidth)
			continue
		case c == '*':
			total += maxWidth
		}
		total, digits = total+digits, 0
	}
	again := strings.Count(format, "[")
	return min(total, math.MaxInt32) + times(size, again)
}
