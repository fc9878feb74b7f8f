"""What the figures say: ratios, whether a limit is kept, and who is better.

Nothing is called better whose rounds overlap with those of the other, from the lowest figure to the
highest.
"""

import statistics

from peers import kinds

_PEERS = {"lua": kinds("lua"), "all": kinds("lua", "other")}


def rounds_of(row, peer, results):
    """A peer's figure for the row in each round; the reason in words when there is none."""
    found = results[row.run_key].get(peer)
    if found is None or isinstance(found, str):
        return found or "not asked"
    figures = [one[row.figure] for one in found if row.figure in one]
    return figures or "has no such thing"


def figures_of(row, peer, results):
    """As `rounds_of`, but None without figures."""
    found = rounds_of(row, peer, results)
    return None if isinstance(found, str) else found


def median(row, peer, results):
    found = figures_of(row, peer, results)
    return None if found is None else statistics.median(found)


def instructions(row, peer, results):
    """The instructions of an operation, None where they were not counted."""
    found = results[row.run_key].get(peer)
    is_counted = isinstance(found, list) and found and row.is_counted
    return found[0].get(row.count_key) if is_counted else None


def ratio(row, results, peer, base):
    """The median over the rounds of peer / base, each pair from one round."""
    ours, theirs = figures_of(row, peer, results), figures_of(row, base, results)
    if ours is None or theirs is None or not all(theirs):
        return None
    return statistics.median(mine / other for mine, other in zip(ours, theirs))


def compared(row, results, peer, other, factor=1.0):
    """How a peer does beside so many times another: "better", "worse" or "equal"."""
    ours, theirs = figures_of(row, peer, results), figures_of(row, other, results)
    if ours is None or theirs is None:
        return None
    theirs = [figure * factor for figure in theirs]
    if max(ours) < min(theirs):
        return "worse" if row.more else "better"
    if min(ours) > max(theirs):
        return "better" if row.more else "worse"
    return "equal"


def best(row, results, which):
    """The best of the peers, by their medians; None without any."""
    found = [(median(row, peer, results), peer) for peer in row.peers if peer in _PEERS[which]]
    found = [pair for pair in found if pair[0] is not None]
    if not found:
        return None
    return (max(found) if row.more else min(found))[1]


def winners(row, results):
    """The peers that are better than we are, beyond the noise."""
    peers = [peer for peer in row.peers if peer in _PEERS["all"]]
    return [peer for peer in peers if compared(row, results, row.ours, peer) == "worse"]


def keeps(row, results, limit):
    """Whether our figure keeps a limit; None when that cannot be said."""
    ours = median(row, row.ours, results)
    if ours is None:
        return None
    if limit.of is None:
        return ours <= limit.factor
    if limit.strict:
        how = compared(row, results, row.ours, limit.of, limit.factor)
        return None if how is None else how == "better"
    paired = ratio(row, results, row.ours, limit.of)
    if paired is None:
        return None
    return paired >= limit.factor if row.more else paired <= limit.factor


def is_met(row, results, limit):
    """Whether a limit is kept, and no peer is better."""
    kept = keeps(row, results, limit)
    return kept if kept is None else kept and not winners(row, results)


def standing(row, results):
    """How we do beside the peers, in words."""
    if winners(row, results):
        return "slower than " + ", ".join(winners(row, results))
    first = best(row, results, "all")
    if first is None:
        return "no peer"
    how = compared(row, results, row.ours, first)
    word = {"better": "better than every peer", "equal": f"equal to {first}"}
    return word.get(how, "not measured")
