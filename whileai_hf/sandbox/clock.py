"""The world's clock. It stands still, because a row must not depend on when it was made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from whileai_hf.sandbox.words import ZONES


# A working day, mid-morning.
NOW = datetime(2026, 3, 16, 9, 30, tzinfo=UTC)


def offset(zone: str) -> timedelta | None:
    """How far `zone` is ahead of UTC on the world's day, or `None` for a zone nobody knows."""
    if zone in ZONES:
        return timedelta(minutes=ZONES[zone])
    try:
        return NOW.astimezone(ZoneInfo(zone)).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def now_in(zone: str) -> datetime | None:
    """The world's time in `zone`, or `None` for a zone nobody knows."""
    ahead = offset(zone)
    return None if ahead is None else NOW.astimezone(timezone(ahead))
