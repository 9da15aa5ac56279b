// Package intake takes GitHub's webhook deliveries: it checks that GitHub sent them,
// turns them into jobs, and answers once the job is stored.
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
// GitHub does not send a delivery again by itself. What was answered otherwise than 2xx
// it lists as failed, and package reconcile asks for it again; so 503 loses nothing, and a
// payload of an odd shape, which would fail each time, is answered 200 with the reason.
//
// A delivery is remembered after its job is stored, and answered after that. A crash
// between the two makes GitHub's redelivery store the job once more; jobs only say what to
// look at, so that costs a look.
//
// # What strangers can do
//
// Anybody can send to this address. Until the signature is checked, nothing of a body is
// interpreted; what is wrong in the headers is refused before the body is read. A body
// takes memory as it arrives, from one budget for all, and has seconds to arrive.
//
// What GitHub signed is still written by others: names, numbers and object names are
// checked before they become part of a job, and no text of a payload is answered or
// logged.
//
// A signature says nothing of when and as which delivery a body was sent. Whoever has
// seen a delivery can send it again under another id; that, too, costs a look.
package intake
