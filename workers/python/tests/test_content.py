import unittest

from hopcost_worker.content import STEP, contents, exchanges, message


class Content(unittest.TestCase):
    def test_a_message_is_what_the_protocol_says(self) -> None:
        for number in (1, 2, 7, 255, 256, 257, 1000):
            for payload in (0, 1, 7, 8, 9, 64, 100, 5000):
                word = number % contents(payload) * STEP
                want = b"".join(
                    ((word + i) % 2**64).to_bytes(8, "little") for i in range(payload // 8 + 1)
                )[:payload]
                self.assertEqual(message(number, payload), want)

    def test_contents_come_again_sooner_the_longer_they_are(self) -> None:
        # So many of them are 16 KiB at most, where that is not fewer than four.
        known = {0: 256, 1: 256, 64: 256, 65: 128, 100: 128, 1024: 16, 1025: 8, 2049: 4}
        for payload, count in (known | {4096: 4, 65536: 4}).items():
            with self.subTest(payload=payload):
                self.assertEqual(contents(payload), count)
                self.assertEqual(len(exchanges(payload)), count // 2)
                self.assertEqual(message(7 + count, payload), message(7, payload))
                if payload:
                    self.assertNotEqual(message(7 + count // 2, payload), message(7, payload))

    def test_words_begin_again_after_the_greatest(self) -> None:
        # No number's first word is so near to the end that a short message would show it.
        number = max(range(256), key=lambda n: n * STEP % 2**64)
        left = 2**64 - number * STEP % 2**64
        self.assertLess(left, 1 << 57)
        import hopcost_worker.content as content

        step, content.STEP = content.STEP, 2**64 - 3
        try:
            words = [message(1, 48)[at : at + 8] for at in range(0, 48, 8)]
        finally:
            content.STEP = step
        self.assertEqual(
            [int.from_bytes(word, "little") for word in words],
            [2**64 - 3, 2**64 - 2, 2**64 - 1, 0, 1, 2],
        )

    def test_exchanges_run_through_all_numbers_and_share_no_object(self) -> None:
        here, there = exchanges(64), exchanges(64)
        self.assertEqual(len(here), 128)
        self.assertEqual(here[0], (message(1, 64), message(2, 64)))
        self.assertEqual(here[127], (message(255, 64), message(0, 64)))
        self.assertEqual(len({m for pair in here for m in pair}), 256)
        for a, b in zip(here, there, strict=True):
            self.assertEqual(a, b)
            self.assertIsNot(a[0], b[0])
            self.assertIsNot(a[1], b[1])
