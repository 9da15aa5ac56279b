// Package intake receives GitHub's webhook deliveries: it checks that GitHub sent them, turns them
// into jobs, and responds once the job is stored.
//
// # Answers
//
//	202  the delivery's job is stored
//	200  there is nothing to do: the delivery was taken before, or asks for nothing
//	400  a header is missing or no such header, or the payload is no JSON
//	401  no signature, or one that is not of a present secret
//	405  not a POST
//	408  the body came too slowly
//	413  the body is larger than GitHub sends
//	415  not JSON
//	503  the store did not take it, or too many large bodies are held at once
//
// GitHub does not retry a delivery by itself. It lists those without a 2xx response as failed, and
// package reconcile requests them again; so 503 loses nothing, and a payload of an unexpected
// shape, which would fail each time, gets 200 with the reason.
//
// A delivery is remembered after its job is stored, and answered after that. After a crash
// in between, GitHub's redelivery stores the job once more; a job only names what to look up, so
// that costs one look-up.
//
// # What strangers can do
//
// Anybody can send requests to this address. Nothing of a body is interpreted before the signature
// is checked; invalid headers are rejected before the body is read. Memory for a body is allocated
// as it arrives, from one budget for all, and a body has seconds to arrive.
//
// Signed content is still written by others: names, numbers and object names are checked before
// they become part of a job, and no text of a payload is sent in a response or logged.
//
// A signature covers neither the time nor the delivery's id. Whoever has seen a delivery can send
// it again with another id; that, too, costs one look-up.
// seen a delivery can send it again under another id; that, too, costs a look.
package intake
