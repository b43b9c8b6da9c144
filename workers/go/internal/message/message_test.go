package message

import (
	"bytes"
	"testing"
)

func TestContentsAreThoseOfTheProtocol(t *testing.T) {
	// w = 0x9E3779B97F4A7C15 for message 1, and its double (mod 2⁶⁴) for message 2.
	contents := New(18)
	one := []byte{
		0x15, 0x7c, 0x4a, 0x7f, 0xb9, 0x79, 0x37, 0x9e,
		0x16, 0x7c, 0x4a, 0x7f, 0xb9, 0x79, 0x37, 0x9e,
		0x17, 0x7c,
	}
	two := []byte{
		0x2a, 0xf8, 0x94, 0xfe, 0x72, 0xf3, 0x6e, 0x3c,
		0x2b, 0xf8, 0x94, 0xfe, 0x72, 0xf3, 0x6e, 0x3c,
		0x2c, 0xf8,
	}
	for sequence, want := range map[uint64][]byte{1: one, 2: two, 257: one, 1<<32 + 2: two} {
		if got := contents.Of(sequence); !bytes.Equal(got, want) {
			t.Errorf("message %d is % x", sequence, got)
		}
	}
}

func TestContentsComeAgainSoonerTheLongerTheyAre(t *testing.T) {
	// So many of them are 16 KiB at most, where that is not fewer than four.
	for payload, kinds := range map[int]uint64{
		0: 256, 1: 256, 64: 256, 65: 128, 100: 128, 1024: 16, 1025: 8, 2049: 4, 4096: 4, 65536: 4,
	} {
		if got := Kinds(payload); uint64(got) != kinds {
			t.Errorf("there are %d messages of %d bytes", got, payload)
		}
		contents := New(payload)
		if !contents.Is(7+kinds, contents.Of(7)) || payload > 0 && contents.Is(7+kinds/2, contents.Of(7)) {
			t.Errorf("messages of %d bytes do not come again after %d", payload, kinds)
		}
	}
}

func TestAnyFlippedBitIsSeen(t *testing.T) {
	for _, payload := range []int{0, 1, 7, 8, 9, 64, 100} {
		sender, receiver := New(payload), New(payload)
		received := append([]byte(nil), sender.Of(7)...)
		if err := receiver.Check(7, received); err != nil {
			t.Error(err)
		}
		if payload > 0 && receiver.Check(8, received) == nil {
			t.Errorf("with %d bytes message 7 passes for message 8", payload)
		}
		if receiver.Check(7, append(received, 0)) == nil {
			t.Errorf("a byte too many passes")
		}
		for bit := 0; bit < 8*payload; bit++ {
			received[bit/8] ^= 1 << (bit % 8)
			if receiver.Check(7, received) == nil {
				t.Errorf("bit %d of %d bytes is not seen", bit, payload)
			}
			received[bit/8] ^= 1 << (bit % 8)
		}
	}
}
