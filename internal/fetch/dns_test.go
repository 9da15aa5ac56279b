package fetch

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names returns a resolver that answers with the addresses from answer; asked counts all queries.
func names(t *testing.T, answer func(name string, asked int) []string) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		asked := 0
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply := dnsReply(buffer[:n], func(name string) []string { asked++; return answer(name, asked) }); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// dnsReply returns the response to a query.
func dnsReply(query []byte, answer func(name string) []string) []byte {
	var p dnsmessage.Parser
	header, err := p.Start(query)
	if err != nil {
		return nil
	}
	question, err := p.Question()
	if err != nil {
		return nil
	}
	header.Response, header.Authoritative = true, true
	b := dnsmessage.NewBuilder(nil, header)
	_ = b.StartQuestions()
	_ = b.Question(question)
	_ = b.StartAnswers()
	name := question.Name.String()
	about := dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}
	if question.Type == dnsmessage.TypeA || question.Type == dnsmessage.TypeAAAA {
		for _, text := range answer(name[:len(name)-1]) {
			addr := netip.MustParseAddr(text)
			switch {
			case addr.Is4() && question.Type == dnsmessage.TypeA:
				_ = b.AResource(about, dnsmessage.AResource{A: addr.As4()})
			case addr.Is6() && question.Type == dnsmessage.TypeAAAA:
				_ = b.AAAAResource(about, dnsmessage.AAAAResource{AAAA: addr.As16()})
			}
		}
	}
	reply, err := b.Finish()
	if err != nil {
		return nil
	}
	return reply
}
