"""The card of a data set: what a person reads before using it, and what the Hub and the catalog read of it.

[`build_card`] takes the rows of each split and the record of the push; its numbers are asked of the measuring
functions, its figures of `plots`. Every text from outside is shown, never interpreted (`markdown`). To add a section,
write a function that returns Markdown, and name it in `card.md` and in `building`.
"""

from whileai_hf.hub.cards.building import Card, build_card
from whileai_hf.hub.cards.header import agent_tag, front_matter, purpose_tag


__all__ = ["Card", "agent_tag", "build_card", "front_matter", "purpose_tag"]
