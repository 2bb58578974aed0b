"""The same quantities once more, in slow plain Python straight from the definitions.

Nothing here imports the package or numpy arithmetic: rationals where the answer is rational,
loops elsewhere. Only Student's quantile is scipy's.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import inf, log, sqrt
from statistics import NormalDist
from typing import Any

from scipy import stats

Rows = list[tuple[float, int]]


def brier(p: list[float], y: list[int], w: list[float] | None = None) -> Fraction:
    w = [1] * len(p) if w is None else w
    total = sum(Fraction(c) * (Fraction(a) - b) ** 2 for a, b, c in zip(p, y, w, strict=True))
    return total / sum(map(Fraction, w))


def log_loss(p: list[float], y: list[int]) -> float:
    total = 0.0
    for a, b in zip(p, y, strict=True):
        chance = Fraction(a) if b else 1 - Fraction(a)
        if chance == 0:
            return inf
        total -= log(chance.numerator) - log(chance.denominator)
    return total / len(p)


def width_bin(p: float, bins: int) -> int:
    for k in range(bins - 1):
        if p < (k + 1) / bins:
            return k
    return bins - 1


def count_groups(p: list[float], bins: int) -> list[int]:
    ranked = sorted(p)
    n = len(p)
    raw = []
    for value in p:
        lo = ranked.index(value) + 1
        hi = lo + ranked.count(value) - 1
        raw.append(bins * (lo + hi - 1) // (2 * n))
    order = sorted(set(raw))
    return [order.index(group) for group in raw]


def binned(p: list[float], y: list[int], bins: int, scheme: str) -> dict[int, Rows]:
    groups = count_groups(p, bins) if scheme == "equal_count" else [width_bin(v, bins) for v in p]
    table: dict[int, Rows] = defaultdict(list)
    for group, a, b in zip(groups, p, y, strict=True):
        table[group].append((a, b))
    return dict(sorted(table.items()))


def mean_and_rate(rows: Rows) -> tuple[Fraction, Fraction]:
    n = len(rows)
    return sum(Fraction(a) for a, _ in rows) / n, Fraction(sum(b for _, b in rows), n)


def decomposition(p: list[float], y: list[int], bins: int, scheme: str) -> dict[str, Fraction]:
    n, overall = len(p), Fraction(sum(y), len(y))
    rel = res = wbv = wbc = Fraction(0)
    for rows in binned(p, y, bins, scheme).values():
        stated, rate = mean_and_rate(rows)
        rel += len(rows) * (rate - stated) ** 2 / n
        res += len(rows) * (rate - overall) ** 2 / n
        wbv += sum((Fraction(a) - stated) ** 2 for a, _ in rows) / n
        wbc += 2 * sum((Fraction(a) - stated) * (b - rate) for a, b in rows) / n
    return {
        "brier": brier(p, y), "reliability": rel, "resolution": res,
        "uncertainty": overall * (1 - overall),
        "within_bin_variance": wbv, "within_bin_covariance": wbc,
    }  # fmt: skip


def isotonic(x: list[float], y: list[Any], w: list[Any]) -> dict[float, Fraction]:
    """Least-squares non-decreasing fit by pooling neighbours, rationals throughout."""
    pooled: dict[float, list[Fraction]] = {}
    for a, b, c in zip(x, y, w, strict=True):
        total = pooled.setdefault(a, [Fraction(0), Fraction(0)])
        total[0] += Fraction(c) * Fraction(b)
        total[1] += Fraction(c)
    blocks: list[tuple[Fraction, Fraction, list[float]]] = []
    for value in sorted(pooled):
        total, size, values = *pooled[value], [value]
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / size:
            left = blocks.pop()
            total, size, values = total + left[0], size + left[1], left[2] + values
        blocks.append((total, size, values))
    return {value: total / size for total, size, values in blocks for value in values}


def isotonic_by_formula(x: list[float], y: list[Any], w: list[Any]) -> dict[float, Fraction]:
    """The same by the max–min formula: max over j ≤ i of min over k ≥ i of the mean of j … k."""
    levels = sorted(set(x))
    size = {v: Fraction(0) for v in levels}
    total = {v: Fraction(0) for v in levels}
    for a, b, c in zip(x, y, w, strict=True):
        size[a] += Fraction(c)
        total[a] += Fraction(c) * Fraction(b)
    fit = {}
    for i, v in enumerate(levels):
        best = None
        for j in range(i + 1):
            least = None
            sum_total = sum_size = Fraction(0)
            for k in range(j, len(levels)):
                sum_total += total[levels[k]]
                sum_size += size[levels[k]]
                if k >= i:
                    average = sum_total / sum_size
                    least = average if least is None else min(least, average)
            best = least if best is None else max(best, least)
        fit[v] = best
    return fit


def corp(p: list[float], y: list[int], w: list[float] | None = None) -> dict[str, Fraction]:
    w = [1] * len(p) if w is None else w
    kept = [(a, b, c) for a, b, c in zip(p, y, w, strict=True) if c > 0]
    p, y, w = (list(column) for column in zip(*kept, strict=True))
    fit = isotonic(p, y, w)
    weight = sum(map(Fraction, w))
    rate = sum(Fraction(c) * b for b, c in zip(y, w, strict=True)) / weight
    fitted = sum(Fraction(c) * (fit[a] - b) ** 2 for a, b, c in zip(p, y, w, strict=True)) / weight
    stated, uncertainty = brier(p, y, w), rate * (1 - rate)
    return {
        "brier": stated, "miscalibration": stated - fitted,
        "discrimination": uncertainty - fitted, "uncertainty": uncertainty,
    }  # fmt: skip


def calibration_error(p: list[float], y: list[int], bins: int, scheme: str) -> tuple[Any, Any]:
    ece, mce = Fraction(0), Fraction(0)
    for rows in binned(p, y, bins, scheme).values():
        stated, rate = mean_and_rate(rows)
        ece += Fraction(len(rows), len(p)) * abs(rate - stated)
        mce = max(mce, abs(rate - stated))
    return ece, mce


def hosmer_lemeshow(p: list[float], y: list[int], bins: int, scheme: str) -> tuple[Any, int]:
    statistic, groups = Fraction(0), 0
    for rows in binned(p, y, bins, scheme).values():
        stated, rate = mean_and_rate(rows)
        if stated in (0, 1):
            if rate != stated:
                statistic = inf
            continue
        groups += 1
        if statistic != inf:
            statistic += len(rows) * (rate - stated) ** 2 / (stated * (1 - stated))
    return statistic, groups


def spiegelhalter(p: list[float], y: list[int]) -> float:
    top = sum((b - Fraction(a)) * (1 - 2 * Fraction(a)) for a, b in zip(p, y, strict=True))
    variance = sum((1 - 2 * Fraction(a)) ** 2 * Fraction(a) * (1 - Fraction(a)) for a in p)
    return float(top) / sqrt(variance)


def debiased(p: list[float], y: list[int], episodes: list[Any], bins: int) -> tuple[Any, Any]:
    cells: dict[int, dict[Any, list[Fraction]]] = defaultdict(lambda: defaultdict(list))
    for a, b, e in zip(p, y, episodes, strict=True):
        cells[width_bin(a, bins)][e].append(Fraction(a) - b)
    weighted, used = Fraction(0), 0
    for by_episode in cells.values():
        if len(by_episode) < 2:
            continue
        sums = [sum(v) for v in by_episode.values()]
        sizes = [len(v) for v in by_episode.values()]
        # The definition, not the identity: products of different episodes only.
        crossed = sum(s * t for i, s in enumerate(sums) for j, t in enumerate(sums) if i != j)
        pairs = sum(s * t for i, s in enumerate(sizes) for j, t in enumerate(sizes) if i != j)
        weighted += sum(sizes) * crossed / pairs
        used += sum(sizes)
    left_out = Fraction(len(p) - used, len(p))
    return (weighted / used if used else None), left_out


def effective(sizes: list[Any]) -> Fraction:
    return sum(map(Fraction, sizes)) ** 2 / sum(Fraction(n) ** 2 for n in sizes)


def jackknife(values: dict[Any, Any], has_neighbours: bool) -> float:
    count = len(values)
    centre = sum(values.values()) / count
    u = {g: v - centre for g, v in values.items()}
    spread = sum(v * v for v in u.values())
    if has_neighbours:
        spread += max(0, 2 * sum(v * u[g + 1] for g, v in u.items() if g + 1 in u))
    return sqrt(Fraction(count - 1, count) * spread)


def statistic_interval(
    kind: str, loss: list[Any], reference: list[Any] | None, episodes: list[Any],
    weights: list[Any], level: float,
) -> dict[str, Any]:  # fmt: skip
    """Estimate, ends and standard error of a mean, difference or ratio; no refusal rules."""
    weights = [Fraction(w) for w in weights]
    sums: dict[Any, Fraction] = defaultdict(Fraction)
    refs: dict[Any, Fraction] = defaultdict(Fraction)
    sizes: dict[Any, Fraction] = defaultdict(Fraction)
    for i, e in enumerate(episodes):
        if weights[i] == 0:
            continue
        sums[e] += weights[i] * loss[i]
        refs[e] += weights[i] * (reference[i] if reference else 1)
        sizes[e] += weights[i]
    total, base = sum(sums.values()), sum(refs.values())
    without = {g: (total - sums[g]) / (base - refs[g]) for g in sums}
    is_numeric = not isinstance(next(iter(sums)), str)
    se = jackknife(without, is_numeric)
    g_eff = effective(list(sizes.values()))
    df = float(g_eff) - 1
    t = stats.t.ppf((1 + level) / 2, df)
    theta = float(total / base)
    from math import exp

    if kind == "brier":
        estimate = theta
        low, high = theta * exp(-t * se / theta), min(1.0, theta * exp(t * se / theta))
    elif kind == "difference":
        estimate, low, high = theta, theta - t * se, theta + t * se
    else:
        estimate = 1 - theta
        low, high = 1 - theta * exp(t * se / theta), 1 - theta * exp(-t * se / theta)
    return {
        "estimate": estimate, "low": low, "high": high, "standard_error": se, "df": df,
        "episodes": len(sums), "effective_episodes": float(g_eff),
        "p_value": float(2 * stats.t.sf(abs(theta) / se, df)) if kind == "difference" else None,
    }  # fmt: skip


def wilson(rate: float, n: float) -> tuple[float, float]:
    """Roots of (rate − π)² = z² π(1 − π)/n, from the quadratic formula."""
    z2 = NormalDist().inv_cdf(0.975) ** 2
    a, b, c = 1 + z2 / n, -(2 * rate + z2 / n), rate * rate
    root = sqrt(max(0.0, b * b - 4 * a * c))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def effective_rows(y: list[int], episodes: list[Any]) -> float:
    hits: dict[Any, int] = defaultdict(int)
    sizes: dict[Any, int] = defaultdict(int)
    for b, e in zip(y, episodes, strict=True):
        hits[e] += b
        sizes[e] += 1
    n, total = len(y), sum(y)
    g_eff = float(effective(list(sizes.values())))
    if len(sizes) == 1 or total in (0, n):
        return g_eff
    without = {g: Fraction(total - hits[g], n - sizes[g]) for g in sizes}
    se = jackknife(without, False)
    if se == 0:
        return g_eff
    rate = total / n
    z = NormalDist().inv_cdf(0.975)
    t = stats.t.ppf(0.975, max(g_eff - 1, 1))
    return min(n, max(1.0, rate * (1 - rate) / se**2 * (z / t) ** 2))


def sign_statistics(
    p: list[float], y: list[int], episodes: list[Any], signs: dict[Any, int], bins: int
) -> dict[str, Any]:
    """z*, MCB*, ECE*, H* of one pattern, row by row from the definitions."""
    n = len(p)
    rows = [(Fraction(a), b, e) for a, b, e in zip(p, y, episodes, strict=True)]
    by_bin: dict[int, Fraction] = defaultdict(Fraction)
    stated: dict[int, list[Fraction]] = defaultdict(list)
    t: dict[Any, Fraction] = defaultdict(Fraction)
    for (a, b, e), raw in zip(rows, p, strict=True):
        k = width_bin(raw, bins)
        by_bin[k] += signs[e] * (a - b)
        stated[k].append(a)
        t[e] += (b - a) * (1 - 2 * a)
    hl = Fraction(0)
    for k, values in stated.items():
        centre = sum(values) / len(values)
        if 0 < centre < 1:
            hl += by_bin[k] ** 2 / (len(values) * centre * (1 - centre))
    flipped = [a + signs[e] * (b - a) for a, b, e in rows]
    fit = isotonic(p, flipped, [1] * n)
    mcb = sum((a - f) ** 2 - (fit[raw] - f) ** 2
              for (a, _, _), f, raw in zip(rows, flipped, p, strict=True)) / n  # fmt: skip
    scale = sum(v * v for v in t.values())
    z = float(sum(signs[g] * v for g, v in t.items())) / sqrt(scale) if scale else None
    ece = sum(abs(v) for v in by_bin.values()) / n
    return {"z": z, "mcb": float(mcb), "ece": float(ece), "hl": float(hl)}


def patterns(ids: list[Any]) -> list[dict[Any, int]]:
    """All patterns of signs, those with the first sign +1 first."""
    return [dict(zip(ids, signs, strict=True)) for signs in product((1, -1), repeat=len(ids))]
