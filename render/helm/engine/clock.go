package engine

import (
	"strconv"
	"time"
)

// now returns the time of the clock, a different one in each Variant.
func (c *chance) now(function string) time.Time {
	c.note(function)
	return c.run.opts.Now.UTC().Add(time.Duration(c.run.opts.Variant) * (400*24*time.Hour + 3*time.Hour + 7*time.Minute + 11*time.Second))
}

// moment returns the time that the date functions use for a value: the present time for values that are no
// time.
func (c *chance) moment(function string, date any) time.Time {
	switch date := date.(type) {
	case time.Time:
		return date
	case *time.Time:
		return *date
	case int64:
		return time.Unix(date, 0)
	case int:
		return time.Unix(int64(date), 0)
	case int32:
		return time.Unix(int64(date), 0)
	}
	return c.now(function)
}

func (c *chance) date(layout string, date any) string {
	return c.moment("date", date).UTC().Format(layout)
}

func (c *chance) htmlDate(date any) string { return c.date(time.DateOnly, date) }

func (c *chance) htmlDateInZone(date any, zone string) string {
	return c.dateInZone(time.DateOnly, date, zone)
}

// dateInZone formats a time. The time zones of the machine are not read: the time in a zone other than UTC is
// unknown.
func (c *chance) dateInZone(layout string, date any, zone string) string {
	t := c.moment("dateInZone", date).UTC()
	switch zone {
	case "", "UTC", "Local":
	default:
		c.note("dateInZone")
		t = t.In(time.FixedZone(zone, c.run.opts.Variant*(5*60+30)*60))
	}
	return t.Format(layout)
}

func (c *chance) ago(date any) string {
	switch date.(type) {
	case time.Time, int64, int:
	default:
		date = c.now("ago")
	}
	return c.now("ago").Sub(c.moment("ago", date)).Round(time.Second).String()
}

func toDate(layout, text string) time.Time {
	t, _ := mustToDate(layout, text)
	return t
}

func mustToDate(layout, text string) (time.Time, error) {
	return time.ParseInLocation(layout, text, time.UTC)
}

// durationRound returns the largest unit of a duration, or of the time since then.
func (c *chance) durationRound(duration any) string {
	var d time.Duration
	switch duration := duration.(type) {
	case string:
		d, _ = time.ParseDuration(duration)
	case int64:
		d = time.Duration(duration)
	case time.Time:
		d = c.now("durationRound").Sub(duration)
	}
	d = d.Abs()
	const day = 24 * time.Hour
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{365 * day, "y"}, {30 * day, "mo"}, {day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d > unit.size {
			return strconv.FormatInt(int64(d/unit.size), 10) + unit.name
		}
	}
	return "0s"
}
