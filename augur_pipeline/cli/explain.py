"""`augur explain`: why a call is what it is."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from augur_pipeline.cli.shared import home_option, printable
from augur_pipeline.errors import AugurError
from augur_pipeline.home import Home

if TYPE_CHECKING:
    from augur_pipeline.ledger.explain import CallLife

_EXCLUDED = {
    "hold": "a hold states no direction, so there is nothing to be right about",
    "not_own_decider": "protective exits and system calls are not the agent's own decision",
    "missing_confidence": "no confidence was stated; it lowers the agent's coverage",
    "missing_horizon": "no horizon was stated; it lowers the agent's coverage",
    "missing_reference_price": "no reference price was stated; it lowers the agent's coverage",
    "outside_season": "decided_at lies in no season of seasons.csv",
}


@click.command()
@click.argument("call_id")
@home_option
def explain(call_id: str, home_directory: str) -> None:
    """Tell the life of one call: sealed, due, window, prices, settled or why not yet.

    Reads the published database, and the landing files for the call's rows and its pool's prices.
    Exit code 1 where no such call is known.
    """
    from augur_pipeline.ledger.explain import call_life

    life = call_life(Home.at(home_directory), call_id.strip())
    if life.sealed is None and not life.rejections and not life.landing_rows:
        near = (
            f"; did you mean {', '.join(map(repr, life.near_matches))}?"
            if life.near_matches
            else ""
        )
        raise AugurError(
            f"call {call_id!r} is not known as_of {_time(life.as_of)}, and no landing row has this "
            f"id{near}"
        )
    for line in _lines(life):
        click.echo(printable(line))


def _time(instant: datetime | None) -> str:
    return "-" if instant is None else instant.isoformat(sep=" ") + "Z"


def _number(value: float | None, text: str | None = None) -> str:
    if value is not None:
        return repr(value)
    return "missing" if text is None else f"{text!r} (no number)"


def _lines(life: "CallLife") -> Iterator[str]:
    yield f"call {life.call_id}, as published as_of {_time(life.as_of)}"
    if life.sealed is not None:
        yield from _stated(life.sealed)
        yield from _standing(life)
        yield from _prices(life)
    elif not life.rejections:
        yield "  not sealed as of then (see its rows below)"
    yield from _landing(life)


def _stated(sealed: dict[str, Any]) -> Iterator[str]:
    yield f"  agent      {sealed['agent_id']}"
    yield (
        f"  stated     {sealed['action']} {sealed['pool_id']}, confidence "
        f"{_number(sealed['confidence'], sealed['confidence_text'])}, horizon "
        f"{_number(sealed['horizon_hours'], sealed['horizon_hours_text'])} h, reference price "
        f"{_number(sealed['reference_price'], sealed['reference_price_text'])}, by "
        f"{sealed['decider']}"
    )
    recorded = f", recorded {_time(sealed['recorded_at'])}" if sealed["recorded_at"] else ""
    yield f"  decided    {_time(sealed['decided_at'])}{recorded}"
    late = " - after its due time, so backfilled" if sealed["is_backfilled"] else ""
    yield f"  seal       {sealed['seal']}"
    yield (
        f"  sealed     as_of {_time(sealed['first_seen_as_of'])} from {sealed['source_file']} line "
        f"{sealed['source_line']}{late}"
    )


def _standing(life: "CallLife") -> Iterator[str]:
    sealed, outcome = life.sealed, life.outcome
    assert sealed is not None
    season = sealed["season_id"] or "none"
    if sealed["fate"] == "excluded":
        reason = sealed["reason"]
        yield f"  season     {season}"
        yield f"does not count: excluded, {reason}: {_EXCLUDED[reason]}"
        return
    if sealed["fate"] == "rejected":
        message = next(
            (row["message"] for row in life.rejections if row["reason"] == sealed["reason"]), ""
        )
        yield f"  season     {season}"
        yield f"does not count: rejected, {sealed['reason']}{': ' + message if message else ''}"
        return
    assert outcome is not None
    yield f"  season     {season} (eligible)"
    yield f"  due        {_time(sealed['due_at'])}"
    yield f"  window     {_time(sealed['due_at'])} to {_time(outcome['window_closes_at'])}, both in"
    yield f"  expires    {_time(outcome['expires_at'])}"
    yield {
        "pending": _pending,
        "open": _open,
        "resolved": _resolved,
        "expired": _expired,
        "due_after_final": _due_after_final,
    }[outcome["status"]](life)
    if life.late_price is not None:
        late = life.late_price
        yield (
            f"late price: all prices now known would choose {late['price']!r} of "
            f"{_time(late['price_recorded_at'])} (outcome {late['outcome_it_would_give']}); what "
            "is settled stays settled"
        )


def _pending(life: "CallLife") -> str:
    assert life.sealed is not None
    wait = life.sealed["due_at"] - life.as_of
    return (
        f"pending: not due for another {_duration(wait)}; the first price of "
        f"{life.sealed['pool_id']} in the window will settle it"
    )


def _open(life: "CallLife") -> str:
    assert life.sealed is not None
    assert life.outcome is not None
    new = _usable_in_window(life)
    closes_at = life.outcome["window_closes_at"]
    if new:
        return (
            f"open: due, and no price was known as_of {_time(life.as_of)}; the landing zone now "
            f"has {new[0]['price']!r} of {_time(new[0]['recorded_at'])}: the next run resolves it"
        )
    until = (
        "the window is still open: the first price recorded in it settles the call"
        if life.as_of < closes_at
        else f"only a price recorded in the window, delivered late, can still settle it; else it "
        f"expires in {_duration(life.outcome['expires_at'] - life.as_of)}"
    )
    return f"open: due, but no price of {life.sealed['pool_id']} is known in the window; {until}"


def _resolved(life: "CallLife") -> str:
    assert life.sealed is not None
    assert life.outcome is not None
    outcome = life.outcome
    sign = ">" if outcome["price"] > life.sealed["reference_price"] else "<"
    sign = "=" if outcome["is_flat"] else sign
    flat = " (flat: equal is wrong for both directions)" if outcome["is_flat"] else ""
    return (
        f"resolved: {'right' if outcome['outcome'] else 'wrong'}{flat}: price {outcome['price']!r} "
        f"{sign} reference {life.sealed['reference_price']!r}, first in the window, recorded "
        f"{_time(outcome['price_recorded_at'])}, settled as_of {_time(outcome['settled_at'])}; "
        f"squared error {outcome['squared_error']:.6g}"
    )


def _expired(life: "CallLife") -> str:
    assert life.outcome is not None
    return (
        f"expired: no price was known in the window seven days after it was due; closed as_of "
        f"{_time(life.outcome['settled_at'])} without outcome, never as a miss"
    )


def _due_after_final(life: "CallLife") -> str:
    assert life.sealed is not None
    assert life.outcome is not None
    if life.outcome["late_status"] is not None:
        fate = {"resolved": _resolved, "expired": _expired}[life.outcome["late_status"]](life)
    else:
        fate = _pending(life) if life.as_of < life.sealed["due_at"] else _open(life)
    return (
        "due_after_final: due later than its season's end plus the season's bound on horizons, so "
        f"it counts in no score, whatever becomes of it ({fate})"
    )


def _usable_in_window(life: "CallLife") -> list[dict[str, Any]]:
    assert life.sealed is not None
    assert life.outcome is not None
    return [
        row
        for row in life.prices
        if row["fate"] == "usable"
        and life.sealed["due_at"] <= row["recorded_at"] <= life.outcome["window_closes_at"]
    ]


def _prices(life: "CallLife") -> Iterator[str]:
    from augur_pipeline.ledger.explain import shown_prices

    assert life.sealed is not None
    if life.outcome is None:
        return
    rows, left_out = shown_prices(life)
    yield ""
    if not rows:
        yield f"no price of {life.sealed['pool_id']} lies within six hours of the window"
        return
    yield f"prices of {life.sealed['pool_id']} around the window, in the landing zone now:"
    settled = (life.outcome["price"], life.outcome["price_recorded_at"])
    for row in rows:
        inside = life.sealed["due_at"] <= row["recorded_at"] <= life.outcome["window_closes_at"]
        note = "in the window" if inside else ""
        if row["fate"] != "usable":
            note = f"{row['fate']}{', ' + row['reason'] if row['reason'] else ''}"
        elif settled == (row["price"], row["recorded_at"]):
            note = "settled the call"
        if row["recorded_at"] > life.as_of:
            note = f"{note}{', ' if note else ''}after the published as_of"
        price = "no number" if row["price"] is None else repr(row["price"])
        yield f"  {_time(row['recorded_at']):29} {price:>20}  {note}"
    if left_out:
        yield f"  … and {left_out} more in the window"


def _landing(life: "CallLife") -> Iterator[str]:
    rejected = {(row["source_file"], row["source_line"]): row for row in life.rejections}
    is_sealed_row_seen = False
    yield ""
    if life.landing_rows:
        yield "rows of this id in the landing zone now:"
    elif life.sealed is not None:
        yield "its row has vanished from the landing zone; the seal keeps counting"
    for row in life.landing_rows:
        place = (row["source_file"], row["source_line"])
        if place in rejected:
            fault = rejected[place]
            note = f"rejected, {fault['reason']}"
            if fault["column_name"]:
                note += f" ({fault['column_name']} {fault['value']!r})"
            note += f": {fault['message']}"
        elif max(row["decided_at"] or life.as_of, row["recorded_at"] or life.as_of) > life.as_of:
            note = "not yet: its time lies after the published as_of"
        elif life.sealed is None:
            note = "new since the last run"
        elif row["seal"] != life.sealed["seal"]:
            note = "states other values than the seal: the next run rejects it as restated"
        elif is_sealed_row_seen:
            note = "duplicate of the sealed call"
        else:
            note = "carries the sealed call"
            is_sealed_row_seen = True
        yield f"  {row['source_file']} line {row['source_line']}: {note}"


def _duration(span: timedelta) -> str:
    hours, seconds = divmod(int(span.total_seconds()), 3600)
    return f"{hours} h {seconds // 60} min"
