"""Planning: every pair once, no host twice in a round."""

import random
import unittest
from collections import Counter
from itertools import combinations

from .support import FLEET  # noqa: F401  # puts the package on the path
from hopcost_fleet import plan
from hopcost_fleet.hosts import Usage


def disjoint(rounds: list[list[plan.Pair]]) -> bool:
    return all(len(set(sum(pairs, ()))) == 2 * len(pairs) for pairs in rounds)


class Plan(unittest.TestCase):
    def test_all_pairs_are_there_once_in_the_least_number_of_rounds(self) -> None:
        for n in range(101):
            rounds = plan.rounds("all", n)
            self.assertTrue(disjoint(rounds), n)
            pairs = Counter(tuple(sorted(pair)) for pairs in rounds for pair in pairs)
            self.assertEqual(pairs, Counter(combinations(range(n), 2)), n)
            self.assertEqual(len(rounds), 0 if n < 2 else n - 1 + n % 2)
            near = Counter(a for pairs in rounds for a, _ in pairs)
            counts = [near[host] for host in range(n)] or [0]
            self.assertLessEqual(max(counts) - min(counts), 2, n)

    def test_rings_and_samples_are_disjoint_and_hold_what_they_say(self) -> None:
        for n in (2, 3, 4, 7, 50):
            every = n * (n - 1) // 2
            for kind, count in (("ring", n if n > 2 else 1), ("sample:20", min(20, every))):
                rounds = plan.rounds(kind, n)
                pairs = {frozenset(pair) for pairs in rounds for pair in pairs}
                self.assertTrue(disjoint(rounds), (n, kind))
                self.assertEqual((len(pairs), sum(map(len, rounds))), (count, count), (n, kind))
                self.assertEqual(rounds, plan.rounds(kind, n))
            self.assertLessEqual(len(plan.rounds("ring", n)), 2 + n % 2)

    def test_packing_needs_less_than_twice_the_rounds_of_the_busiest_host(self) -> None:
        draw = random.Random(1)
        for _ in range(50):
            every = list(combinations(range(draw.randrange(2, 60)), 2))
            pairs = draw.sample(every, draw.randrange(1, len(every) + 1))
            rounds = plan.packed(pairs)
            self.assertTrue(disjoint(rounds))
            self.assertEqual(sorted(sum(rounds, [])), sorted(pairs))
            busiest = max(Counter(h for pair in pairs for h in pair).values())
            self.assertLess(len(rounds), 2 * busiest)

    def test_too_many_pairs_and_no_kind_are_refused(self) -> None:
        for kind, n in (("all", 10_000), ("sample:9999999", 10_000)):
            with self.assertRaisesRegex(Usage, "pairs of 10,000 hosts are too many"):
                plan.rounds(kind, n)
        for kind in ("", "some", "sample:0", "sample:-1", "sample:x", "all ", "sample:99999999"):
            with self.assertRaises(Usage, msg=kind):
                plan.kind_of_pairs(kind)


if __name__ == "__main__":
    unittest.main()
