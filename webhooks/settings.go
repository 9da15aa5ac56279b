package webhooks

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// Setting is a setting of a Config, whose value can be set in three ways.
type Setting struct {
	// Key is the path in the file: app.privateKeyFile.
	Key string
	// Flag is the name of the flag: app-private-key-file. It is empty for values that must not
	// be visible in the list of processes.
	Flag string
	// Env is the environment variable: PREADMIT_APP_PRIVATE_KEY_FILE.
	Env string
	// Argument is the placeholder of its value: FILE, TIME, on|off.
	Argument string
	// Usage describes it.
	Usage string
	// Default is the value when none is set.
	Default string
	// Repeatable settings are lists: flags are repeated, variables separate by commas.
	Repeatable bool

	value reflect.Value
}

// Settings returns the settings of a configuration, in the order of its fields.
func Settings(c *Config) []*Setting { return settingsOf("", reflect.ValueOf(c).Elem()) }

func settingsOf(prefix string, v reflect.Value) []*Setting {
	var all []*Setting
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		key, field := prefix+tag.Get("json"), v.Field(i)
		switch {
		case tag.Get("env") == "never":
		case field.Kind() == reflect.Struct:
			all = append(all, settingsOf(key+".", field)...)
		default:
			all = append(all, newSetting(key, tag, field))
		}
	}
	return all
}

// argument returns the placeholder for values of a type.
func argument(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "TIME"
	case reflect.TypeFor[Size]():
		return "SIZE"
	case reflect.TypeFor[string]():
		return "VALUE"
	}
	return "NUMBER"
}

func newSetting(key string, tag reflect.StructTag, field reflect.Value) *Setting {
	flag := kebab(key)
	s := &Setting{
		Key: key, Flag: flag, Env: envOf(key),
		Argument: cmp.Or(tag.Get("arg"), argument(field.Type())), Usage: tag.Get("usage"), Default: tag.Get("default"), Repeatable: field.Kind() == reflect.Slice, value: field,
	}
	if tag.Get("env") == "only" {
		s.Flag = ""
	}
	return s
}

// kebab converts app.privateKeyFile to app-private-key-file, and publicURL to public-url.
func kebab(key string) string {
	var b strings.Builder
	lower := false
	for _, r := range key {
		switch {
		case r == '.':
			r = '-'
		case unicode.IsUpper(r) && lower:
			b.WriteByte('-')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func envOf(key string) string {
	return "PREADMIT_" + strings.ToUpper(strings.ReplaceAll(kebab(key), "-", "_"))
}

// Set parses the text of a flag or variable; for a list it appends a value.
func (s *Setting) Set(text string) error {
	if into, ok := s.value.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return into.UnmarshalText([]byte(text))
	}
	switch s.value.Kind() {
	case reflect.String:
		s.value.SetString(text)
	case reflect.Slice:
		s.value.Set(reflect.Append(s.value, reflect.ValueOf(text)))
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("want a whole number, not %q", text)
		}
		s.value.SetInt(n)
	}
	return nil
}

// clear empties a list, since a source of higher precedence replaces it as a whole.
func (s *Setting) clear() {
	if s.Repeatable {
		s.value.SetZero()
	}
}
