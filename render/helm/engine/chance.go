package engine

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"text/template"
	"time"
)

// Chance is a call of a function whose result is random, or depends on the unknown state of a cluster or
// machine.
type Chance struct {
	Function string
	// At is the place of the call, File the template file that was being executed.
	At   Place
	File string
	// Query is the query of a lookup.
	Query Query
}

// chance implements functions with random results by means of a seed.
type chance struct {
	run *run
	// counts is the number of calls of a function by function and arguments.
	counts map[string]int
	calls  []Chance
}

// certificate is the result of the functions for certificates.
type certificate struct{ Cert, Key string }

func (c *chance) functions() template.FuncMap {
	return template.FuncMap{
		"now": func() time.Time { return c.now("now") },
		"ago": c.ago, "date": c.date, "htmlDate": c.htmlDate,
		"dateInZone": c.dateInZone, "date_in_zone": c.dateInZone, "htmlDateInZone": c.htmlDateInZone,
		"toDate": toDate, "mustToDate": mustToDate, "durationRound": c.durationRound,
		"randAlpha": c.text("randAlpha", letters), "randAlphaNum": c.text("randAlphaNum", letters+digits),
		"randNumeric": c.text("randNumeric", digits), "randAscii": c.text("randAscii", printableASCII()),
		"randBytes": c.randBytes, "randInt": c.randInt, "uuidv4": c.uuid, "shuffle": c.shuffle,
		"bcrypt": c.bcrypt, "htpasswd": c.htpasswd, "encryptAES": c.encryptAES,
		"genPrivateKey": func(kind string) string { return c.pem("genPrivateKey", "PRIVATE KEY", kind) },
		"genCA":         func(name string, days int) certificate { return c.certificate("genCA", name, days) },
		"genCAWithKey":  func(name string, days int, key string) certificate { return c.signed("genCAWithKey", key, name, days) },
		"genSelfSignedCert": func(name string, ips, names []any, days int) certificate {
			return c.certificate("genSelfSignedCert", name, ips, names, days)
		},
		"genSelfSignedCertWithKey": func(name string, ips, names []any, days int, key string) certificate {
			return c.signed("genSelfSignedCertWithKey", key, name, ips, names, days)
		},
		"genSignedCert": func(name string, ips, names []any, days int, ca certificate) certificate {
			return c.certificate("genSignedCert", name, ips, names, days, ca)
		},
		"genSignedCertWithKey": func(name string, ips, names []any, days int, ca certificate, key string) certificate {
			return c.signed("genSignedCertWithKey", key, name, ips, names, days, ca)
		},
		"buildCustomCert": customCertificate,
		"lookup":          c.lookup,
		"keys":            keys, "values": values,
	}
}

const (
	letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
)

func printableASCII() string {
	var all []byte
	for b := byte(' '); b <= '~'; b++ {
		all = append(all, b)
	}
	return string(all)
}

// source records a call and returns its source of random numbers. It depends on the function, its arguments
// and the number of such calls, so that other calls do not change it.
func (c *chance) source(function string, args ...any) *rand.ChaCha8 {
	c.note(function)
	key := fmt.Sprintf("%s %v", function, args)
	c.counts[key]++
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "%q %d %q %d", c.run.opts.Seed, c.run.opts.Variant, key, c.counts[key])))
}

func (c *chance) note(function string) {
	c.calls = append(c.calls, Chance{Function: function, At: c.run.place(c.run.at, 0), File: c.run.file})
}

// text returns a function that returns random characters of an alphabet.
func (c *chance) text(function, alphabet string) func(int) (string, error) {
	return func(count int) (string, error) {
		if err := c.run.spend(max(count, 0)); err != nil {
			return "", err
		}
		random := rand.New(c.source(function, count))
		text := make([]byte, max(count, 0))
		for i := range text {
			text[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(text), nil
	}
}

func (c *chance) bytes(count int, function string, args ...any) []byte {
	random := make([]byte, count)
	_, _ = c.source(function, args...).Read(random) // it never fails
	return random
}

func (c *chance) randBytes(count int) (string, error) {
	if err := c.run.spend(max(count, 0)); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(c.bytes(max(count, 0), "randBytes", count)), nil
}

func (c *chance) randInt(low, high int) (int, error) {
	if high <= low {
		return 0, fmt.Errorf("randInt: %d is not less than %d", low, high)
	}
	return low + rand.New(c.source("randInt", low, high)).IntN(high-low), nil
}

func (c *chance) uuid() string {
	b := c.bytes(16, "uuidv4")
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (c *chance) shuffle(text string) string {
	runes := []rune(text)
	rand.New(c.source("shuffle", text)).Shuffle(len(runes), func(i, j int) { runes[i], runes[j] = runes[j], runes[i] })
	return string(runes)
}

// bcrypt returns a text that looks like a hash. In Helm it differs each time by its salt.
func (c *chance) bcrypt(password string) string {
	encoded := strings.ReplaceAll(base64.RawStdEncoding.EncodeToString(c.bytes(40, "bcrypt", password)), "+", ".")
	return "$2a$10$" + encoded[:53]
}

func (c *chance) htpasswd(user, password string) string {
	if strings.Contains(user, ":") {
		return "invalid username: " + user
	}
	return user + ":" + c.bcrypt(password)
}

func (c *chance) encryptAES(password, plain string) (string, error) {
	if plain == "" {
		return "", nil
	}
	key := make([]byte, 32)
	copy(key, password)
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	content := []byte(plain)
	padding := aes.BlockSize - len(content)%aes.BlockSize
	content = append(content, slices.Repeat([]byte{byte(padding)}, padding)...)
	start := c.bytes(aes.BlockSize, "encryptAES", password, plain)
	cipher.NewCBCEncrypter(block, start).CryptBlocks(content, content)
	return base64.StdEncoding.EncodeToString(append(start, content...)), nil
}

// pem returns a block that looks like a key or certificate.
func (c *chance) pem(function, kind string, args ...any) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: c.bytes(600, function, append(args, kind)...)}))
}

func (c *chance) certificate(function string, args ...any) certificate {
	return certificate{Cert: c.pem(function, "CERTIFICATE", args...), Key: c.pem(function, "RSA PRIVATE KEY", args...)}
}

// signed returns a certificate for a given key.
func (c *chance) signed(function, key string, args ...any) certificate {
	return certificate{Cert: c.pem(function, "CERTIFICATE", args...), Key: key}
}

// customCertificate returns a certificate from a certificate and a key in Base64.
func customCertificate(cert64, key64 string) (certificate, error) {
	var made certificate
	for _, part := range []struct {
		name, text string
		to         *string
	}{{"certificate", cert64, &made.Cert}, {"private key", key64, &made.Key}} {
		decoded, err := base64.StdEncoding.DecodeString(part.text)
		if err != nil {
			return made, fmt.Errorf("unable to decode base64 %s", part.name)
		}
		if block, _ := pem.Decode(decoded); block == nil {
			return made, fmt.Errorf("unable to decode %s", part.name)
		}
		*part.to = string(decoded)
	}
	return made, nil
}

// keys returns the keys of maps, sorted for each map.
func keys(maps ...map[string]any) []string {
	all := []string{}
	for _, m := range maps {
		all = append(all, sortedKeys(m)...)
	}
	return all
}

// values returns the values of a map in the order of its keys.
func values(m map[string]any) []any {
	all := []any{}
	for _, key := range sortedKeys(m) {
		all = append(all, m[key])
	}
	return all
}
