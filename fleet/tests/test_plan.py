"""Planning: every pair once, no host twice in a round."""

import random
import unittest
from collections import Counter

from .support import FLEET  # noqa: F401  # puts the package on the path
from hopcost_fleet import plan
from hopcost_fleet.hosts import Usage


def disjoint(rounds: list[list[plan.Pair]]) -> bool:
    return all(len(set(sum(pairs, ()))) == 2 * len(pairs) for pairs in rounds)


class Plan(unittest.TestCase):
    def test_the_circle_has_every_pair_once_in_the_least_number_of_rounds(self) -> None:
        for n in range(101):
            rounds = [plan.circle(n, r) for r in range(plan.rounds_of_circle(n))]
            self.assertTrue(disjoint(rounds), n)
            pairs = Counter(tuple(sorted(pair)) for pairs in rounds for pair in pairs)
            self.assertEqual(set(pairs.values()) - {1}, set(), n)
            self.assertEqual(len(pairs), n * (n - 1) // 2)
            self.assertEqual(len(rounds), 0 if n < 2 else n - 1 + n % 2)
            near = Counter(a for pairs in rounds for a, _ in pairs)
            self.assertLessEqual(max(near.values(), default=0) - min((near[h] for h in range(n)), default=0), 2, n)

    def test_every_kind_is_disjoint_and_holds_what_it_says(self) -> None:
        for n in (2, 3, 4, 7, 50):
            for kind, count in (("all", n * (n - 1) // 2), ("ring", n if n > 2 else 1), ("sample:20", min(20, n * (n - 1) // 2))):
                rounds, left_out = plan.rounds(kind, n, 7, None)
                rounds = list(rounds)
                pairs = [tuple(sorted(pair)) for pairs in rounds for pair in pairs]
                self.assertTrue(disjoint(rounds), (n, kind))
                self.assertEqual((len(pairs), len(set(pairs)), left_out), (count, count, 0), (n, kind))

    def test_a_ring_takes_two_rounds_or_three(self) -> None:
        for n in range(3, 40):
            self.assertEqual(len(list(plan.rounds("ring", n, 1, None)[0])), 2 + n % 2)

    def test_a_sample_is_that_of_its_seed_and_uniform(self) -> None:
        draw = lambda seed: list(plan.rounds("sample:30", 20, seed, None)[0])
        self.assertEqual(draw(3), draw(3))
        self.assertNotEqual(draw(3), draw(4))
        counts = Counter(tuple(sorted(p)) for seed in range(2000) for pairs in plan.rounds("sample:3", 6, seed, None)[0] for p in pairs)
        self.assertEqual(len(counts), 15)  # 400 of each are expected; 320 is 4.5 standard deviations off
        self.assertGreater(min(counts.values()), 320)

    def test_no_rank_is_given_twice(self) -> None:
        for n in (2, 3, 10, 65):
            self.assertEqual([plan.unrank(k, n) for k in range(n * (n - 1) // 2)], [(i, j) for i in range(n) for j in range(i + 1, n)])
        self.assertEqual(plan.unrank(10_000 * 9_999 // 2 - 1, 10_000), (9_998, 9_999))

    def test_a_budget_leaves_out_rounds_and_says_how_many_pairs(self) -> None:
        for kind in ("all", "ring", "sample:60"):
            everything = sum(map(len, plan.rounds(kind, 20, 1, None)[0]))
            rounds, left_out = plan.rounds(kind, 20, 1, 2)
            kept = sum(map(len, rounds))
            self.assertEqual(kept + left_out, everything)
            self.assertTrue(0 < kept < everything or kind == "ring")
        self.assertEqual(plan.rounds("all", 20, 1, 0)[1], 190)

    def test_packing_needs_less_than_twice_the_rounds_of_the_busiest_host(self) -> None:
        draw = random.Random(1)
        for _ in range(50):
            n = draw.randrange(2, 60)
            pairs = [plan.unrank(k, n) for k in draw.sample(range(n * (n - 1) // 2), draw.randrange(1, n * (n - 1) // 2 + 1))]
            rounds = plan.pack(pairs)
            self.assertTrue(disjoint(rounds))
            self.assertEqual(sorted(sum(rounds, [])), sorted(pairs))
            self.assertLess(len(rounds), 2 * max(Counter(h for pair in pairs for h in pair).values()))

    def test_too_many_pairs_and_no_kind_are_refused(self) -> None:
        with self.assertRaisesRegex(Usage, "49,995,000 pairs"):
            plan.rounds("all", 10_000, 1, None)
        for kind in ("", "some", "sample:0", "sample:-1", "sample:x", "all ", "sample:99999999"):
            with self.assertRaises(Usage, msg=kind):
                plan.check(kind)


if __name__ == "__main__":
    unittest.main()
